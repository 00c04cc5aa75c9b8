import { BatchGetItemCommand, type DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import { RoutedError } from '../core/commit-errors.ts';
import type { Row, RowReader } from '../core/ports.ts';
import { INDEXES, type ItemKey } from '../core/table.ts';
import { fromItem, toItem } from './items.ts';

/** BatchGetItem takes 100 keys. */
const BATCH = 100;
/** What DynamoDB left out is asked for again this often; then it is a fault, which has its own retry. */
const MAX_ROUNDS = 5;

const idOf = (key: { readonly [attribute: string]: unknown }): string => JSON.stringify([key.PK, key.SK]);

/** Strongly consistent reads of the worker's table. */
export function createRowReader(client: DynamoDBClient, tableName: string): RowReader {
  async function readBatch(keys: readonly ItemKey[], found: Map<string, Row>): Promise<void> {
    let pending = keys.map((key) => toItem({ PK: key.PK, SK: key.SK }));
    for (let round = 0; pending.length > 0; round += 1) {
      if (round === MAX_ROUNDS) throw new RoutedError('Throttled', 'DynamoDB left keys of a batch unread');
      const output = await client.send(
        new BatchGetItemCommand({ RequestItems: { [tableName]: { Keys: pending, ConsistentRead: true } } }),
      );
      for (const item of output.Responses?.[tableName] ?? []) {
        const row = fromItem(item);
        found.set(idOf(row), row);
      }
      pending = output.UnprocessedKeys?.[tableName]?.Keys ?? [];
    }
  }

  return {
    async read(keys) {
      const distinct = [...new Map(keys.map((key) => [idOf({ ...key }), key])).values()];
      const found = new Map<string, Row>();
      for (let start = 0; start < distinct.length; start += BATCH) {
        await readBatch(distinct.slice(start, start + BATCH), found);
      }
      return keys.map((key) => found.get(idOf({ ...key })));
    },
    async range(partitionKey, from, to, limit) {
      if (from > to) return [];
      const output = await client.send(
        new QueryCommand({
          TableName: tableName,
          ConsistentRead: true,
          KeyConditionExpression: 'PK = :pk AND SK BETWEEN :from AND :to',
          ExpressionAttributeValues: toItem({ ':pk': partitionKey, ':from': from, ':to': to }),
          Limit: limit,
        }),
      );
      return (output.Items ?? []).map(fromItem);
    },
    async hasMessage(aggregate, aggregateOrder) {
      const output = await client.send(
        new QueryCommand({
          TableName: tableName,
          IndexName: INDEXES.byAggregate.name,
          KeyConditionExpression: '#aggregate = :aggregate AND #order = :order',
          ExpressionAttributeNames: {
            '#aggregate': INDEXES.byAggregate.partitionKey,
            '#order': INDEXES.byAggregate.sortKey,
          },
          ExpressionAttributeValues: toItem({ ':aggregate': aggregate, ':order': aggregateOrder }),
          Limit: 1,
        }),
      );
      return (output.Items ?? []).length > 0;
    },
  };
}
