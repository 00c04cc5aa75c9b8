import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { GetQueueAttributesCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { fromItem, toItem } from '../../lambdas/aws/items.ts';
import type { Row } from '../../lambdas/core/ports.ts';
import { aggregateKey, type ItemKey, inboxKey } from '../../lambdas/core/table.ts';
import type { LocalRuntime } from '../runtime.ts';

/** What a test sends to a running worker, and looks up in it. */
export interface WorkerAccess {
  /** Sends an envelope, or any body, to the worker's queue. */
  send(
    body: unknown,
    options?: { readonly groupId?: string; readonly attributes?: Readonly<Record<string, string>> },
  ): Promise<void>;
  /** Any item of the worker's table. */
  row(key: ItemKey): Promise<Row | undefined>;
  /** The inbox row of a key: status, attempts, failure. */
  inbox(idempotencyKey: string): Promise<Row | undefined>;
  /** The item of an aggregate in the worker's table. */
  aggregate(aggregateType: string, aggregateId: string): Promise<Row | undefined>;
  /** How many messages a queue holds, whether or not they can be received now. */
  depth(queueUrl: string): Promise<number>;
}

/** Access through the runtime's own services. */
export function accessWorker({ names, clients }: Pick<LocalRuntime, 'names' | 'clients'>): WorkerAccess {
  const { sqs, dynamodb } = clients;
  const row: WorkerAccess['row'] = async (key) => {
    const { Item } = await dynamodb.send(
      new GetItemCommand({ TableName: names.tableName, Key: toItem({ ...key }), ConsistentRead: true }),
    );
    return Item === undefined ? undefined : fromItem(Item);
  };
  return {
    async send(body, { groupId, attributes = {} } = {}) {
      await sqs.send(
        new SendMessageCommand({
          QueueUrl: names.queueUrl,
          MessageBody: typeof body === 'string' ? body : JSON.stringify(body),
          MessageAttributes: Object.fromEntries(
            Object.entries(attributes).map(([name, value]) => [
              name,
              { DataType: 'String', StringValue: value },
            ]),
          ),
          ...(groupId === undefined ? {} : { MessageGroupId: groupId }),
        }),
      );
    },
    row,
    inbox: (idempotencyKey) => row(inboxKey(idempotencyKey, names.workerName)),
    aggregate: (aggregateType, aggregateId) => row(aggregateKey(aggregateType, aggregateId)),
    async depth(queueUrl) {
      const { Attributes = {} } = await sqs.send(
        new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] }),
      );
      return (
        Number(Attributes.ApproximateNumberOfMessages) +
        Number(Attributes.ApproximateNumberOfMessagesNotVisible) +
        Number(Attributes.ApproximateNumberOfMessagesDelayed)
      );
    },
  };
}
