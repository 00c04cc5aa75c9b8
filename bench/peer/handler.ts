import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import * as v from 'valibot';

// What a team writes that has no worker: a queue's handler on Powertools' batch and idempotency, one write a message.

const messageSchema = v.object({
  idempotencyKey: v.pipe(v.string(), v.nonEmpty()),
  caseId: v.string(),
  stage: v.string(),
});

const logger = new Logger();
const metrics = new Metrics();
const dynamodb = new DynamoDBClient({ maxAttempts: 1 });
const processor = new BatchProcessor(EventType.SQS);
const config = new IdempotencyConfig({ eventKeyJmesPath: 'idempotencyKey', expiresAfterSeconds: 7_776_000 });
const persistenceStore = new DynamoDBPersistenceLayer({
  tableName: process.env.TABLE_NAME ?? '',
  awsSdkV3Client: dynamodb,
});

const work = makeIdempotent(
  async ({ caseId, stage }: v.InferOutput<typeof messageSchema>) => {
    await dynamodb.send(
      new UpdateItemCommand({
        TableName: process.env.TABLE_NAME,
        Key: { id: { S: caseId } },
        UpdateExpression: 'SET stage = :stage',
        ExpressionAttributeValues: { ':stage': { S: stage } },
      }),
    );
    metrics.addMetric('MessagesApplied', MetricUnit.Count, 1);
    return { caseId, stage };
  },
  { persistenceStore, config },
);

async function apply(record: SQSRecord): Promise<void> {
  const message = v.parse(messageSchema, JSON.parse(record.body));
  logger.info('message_taken', { idempotencyKey: message.idempotencyKey });
  await work(message);
}

export const handler = async (event: SQSEvent, context: Context) => {
  config.registerLambdaContext(context);
  try {
    return await processPartialResponse(event, apply, processor, { context });
  } finally {
    metrics.publishStoredMetrics();
  }
};
