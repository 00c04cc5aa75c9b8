import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { INBOX_STATUSES, type KnownWork, type NewWork, newInboxRow } from '../core/inbox.ts';
import { numberOf, type Row, textOf } from '../core/ports.ts';
import { aggregateKey, attentionKey, conflictKey, inboxKey } from '../core/table.ts';
import { updateOf } from '../core/transaction.ts';
import type { StarterInbox } from '../starter/start.ts';
import { expressionInput, fromItem, toItem } from './items.ts';

/** Readers of the arrival counter may be overtaken; each round reads the number anew. */
const MAX_ARRIVAL_ROUNDS = 5;

/** The inbox rows, as the starter writes them. */
export function createInbox(client: DynamoDBClient, tableName: string, worker: string): StarterInbox {
  /** One write tells new work from known: the condition fails with the row that was there. */
  async function put(work: NewWork): Promise<Row | undefined> {
    try {
      await client.send(
        new PutItemCommand({
          TableName: tableName,
          Item: toItem(newInboxRow(work)),
          ConditionExpression: 'attribute_not_exists(PK)',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return undefined;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return fromItem(error.Item ?? {});
      throw error;
    }
  }

  /**
   * Hands out the aggregate's next arrival number together with the inbox row. Transactions return no values: the
   * number is read, then written on condition that nobody took it meanwhile.
   */
  async function putWithArrival(work: NewWork): Promise<{ row?: Row; arrival?: number }> {
    const { envelope, type } = work;
    const counter = {
      PK: `COUNTER#${aggregateKey(envelope.aggregateType, envelope.aggregateId).PK}`,
      SK: `ARRIVAL#${type.stream}`,
    };
    let lastError: unknown;
    for (let round = 0; round < MAX_ARRIVAL_ROUNDS; round += 1) {
      const stored = await client.send(
        new GetItemCommand({ TableName: tableName, Key: toItem(counter), ConsistentRead: true }),
      );
      const last = stored.Item === undefined ? undefined : numberOf(fromItem(stored.Item), 'last');
      const arrival = (last ?? 0) + 1;
      try {
        await client.send(
          new TransactWriteItemsCommand({
            TransactItems: [
              {
                Put: {
                  TableName: tableName,
                  Item: toItem(newInboxRow(work, arrival)),
                  ConditionExpression: 'attribute_not_exists(PK)',
                  ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
                },
              },
              {
                Update: {
                  TableName: tableName,
                  Key: toItem(counter),
                  UpdateExpression: 'SET #last = :next',
                  ConditionExpression: last === undefined ? 'attribute_not_exists(PK)' : '#last = :last',
                  ExpressionAttributeNames: { '#last': 'last' },
                  ExpressionAttributeValues: toItem({ ':next': arrival, ':last': last }),
                },
              },
            ],
          }),
        );
        return { arrival };
      } catch (error) {
        if (!(error instanceof TransactionCanceledException)) throw error;
        const [inbox] = error.CancellationReasons ?? [];
        if (inbox?.Code === 'ConditionalCheckFailed') return { row: fromItem(inbox.Item ?? {}) };
        lastError = error;
      }
    }
    throw lastError;
  }

  return {
    async admit(work) {
      if (work.type.ordering !== 'arrival') {
        const row = await put(work);
        return row === undefined ? {} : { known: toKnownWork(row, work) };
      }
      const { row, arrival } = await putWithArrival(work);
      if (row !== undefined) return { known: toKnownWork(row, work) };
      return arrival === undefined ? {} : { arrival };
    },

    /** `attribute_exists(PK)`: a row that TTL removed meanwhile must not come back as a stub. */
    async countDelivery(idempotencyKey, at) {
      try {
        await client.send(
          new UpdateItemCommand({
            TableName: tableName,
            Key: toItem({ ...inboxKey(idempotencyKey, worker) }),
            UpdateExpression: 'ADD receiveCount :one SET lastSeenAt = :at',
            ConditionExpression: 'attribute_exists(PK)',
            ExpressionAttributeValues: toItem({ ':one': 1, ':at': at }),
          }),
        );
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
      }
    },

    async recordConflict(envelope, hash, at) {
      const set = updateOf(
        {
          requestHash: hash,
          messageType: envelope.messageType,
          schemaVersion: envelope.schemaVersion,
          aggregateType: envelope.aggregateType,
          aggregateId: envelope.aggregateId,
          aggregateVersion: envelope.aggregateVersion,
          messageId: envelope.messageId,
          correlationId: envelope.correlationId,
          lastSeenAt: at,
        },
        [],
        { seenAt: at, attention: attentionKey('CONFLICT', at, hash), attentionAt: at },
      );
      await client.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: toItem({ ...conflictKey(envelope.idempotencyKey, hash) }),
          ...expressionInput({
            update: {
              text: `${set.text} ADD #count :one`,
              names: { ...set.names, '#count': 'count' },
              values: { ...set.values, ':one': 1 },
            },
          }),
        }),
      );
    },
  };
}

function toKnownWork(row: Row, work: NewWork): KnownWork {
  const arrival = numberOf(row, 'arrival');
  return {
    status: INBOX_STATUSES.find((status) => status === row.status) ?? 'RECEIVED',
    requestHash: textOf(row, 'requestHash') ?? '',
    executionName: textOf(row, 'executionName') ?? work.executionName,
    ...(arrival === undefined ? {} : { arrival }),
  };
}
