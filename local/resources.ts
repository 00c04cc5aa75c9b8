import { CreateTableCommand, type DynamoDBClient, ResourceInUseException } from '@aws-sdk/client-dynamodb';
import { INDEXES, TABLE } from '../lambdas/core/table.ts';
import { queueNameOf, type WorkerNames } from './names.ts';
import type { S3Store } from './s3/index.ts';
import type { SqsStore } from './sqs/index.ts';

const DAY_SECONDS = 24 * 60 * 60;
/** Six times the function's time-out, as Lambda wants a queue's visibility to be. */
const VISIBILITY_SECONDS = 180;

export interface ResourceOptions {
  readonly names: WorkerNames;
  readonly fifo: boolean;
  readonly maxReceiveCount: number;
  readonly sqs: SqsStore;
  readonly s3: S3Store;
  readonly dynamodb: DynamoDBClient;
}

/** Makes what a deployment makes: the queues, the bucket and the table. Each is left as it is when it is there. */
export async function createResources(options: ResourceOptions): Promise<void> {
  const { names, sqs, s3, fifo } = options;
  const kind = fifo ? { FifoQueue: 'true', ContentBasedDeduplication: 'true' } : {};
  const create = (url: string, attributes: Record<string, string>) =>
    sqs.createQueue(queueNameOf(url), attributes, {});
  create(names.dlqUrl, { ...kind, MessageRetentionPeriod: String(14 * DAY_SECONDS) });
  create(names.quarantineQueueUrl, { MessageRetentionPeriod: String(14 * DAY_SECONDS) });
  create(names.queueUrl, {
    ...kind,
    VisibilityTimeout: String(VISIBILITY_SECONDS),
    MessageRetentionPeriod: String(4 * DAY_SECONDS),
    RedrivePolicy: JSON.stringify({
      deadLetterTargetArn: names.dlqArn,
      maxReceiveCount: String(options.maxReceiveCount),
    }),
  });
  s3.createBucket(names.payloadBucket, 'Enabled');
  await createTable(options.dynamodb, names.tableName);
}

/** A further queue of a worker: what comes back from a failed receive is soon visible again. */
export function createInputQueues(
  sqs: SqsStore,
  input: { readonly queueUrl: string; readonly dlqUrl: string; readonly maxReceiveCount: number },
): void {
  const retention = { MessageRetentionPeriod: String(14 * DAY_SECONDS) };
  const { arn } = sqs.createQueue(queueNameOf(input.dlqUrl), retention, {});
  sqs.createQueue(
    queueNameOf(input.queueUrl),
    {
      VisibilityTimeout: String(VISIBILITY_SECONDS),
      RedrivePolicy: JSON.stringify({
        deadLetterTargetArn: arn,
        maxReceiveCount: String(input.maxReceiveCount),
      }),
    },
    {},
  );
}

async function createTable(client: DynamoDBClient, tableName: string): Promise<void> {
  const indexes = Object.values(INDEXES);
  const keys = [TABLE, ...indexes].flatMap(({ partitionKey, sortKey }) => [partitionKey, sortKey]);
  const schema = ({ partitionKey, sortKey }: { partitionKey: string; sortKey: string }) => [
    { AttributeName: partitionKey, KeyType: 'HASH' as const },
    { AttributeName: sortKey, KeyType: 'RANGE' as const },
  ];
  try {
    await client.send(
      new CreateTableCommand({
        TableName: tableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: keys.map((name) => ({ AttributeName: name, AttributeType: 'S' })),
        KeySchema: schema(TABLE),
        GlobalSecondaryIndexes: indexes.map((index) => ({
          IndexName: index.name,
          KeySchema: schema(index),
          Projection: { ProjectionType: 'KEYS_ONLY' },
        })),
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
      }),
    );
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
}
