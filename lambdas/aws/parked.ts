import { type DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import { textOf } from '../core/ports.ts';
import type { StreamPlace } from '../core/stream.ts';
import { ATTENTION_SHARDS, INDEXES, PARKED } from '../core/table.ts';
import { fromItem, toItem } from './items.ts';

/**
 * Ordering streams with executions that have been parked since before an instant.
 * @param day `yyyy-mm-dd`, UTC
 * @param before ISO 8601
 * @param limit of waiters, for each of 16 shards
 */
export async function parkedPlaces(
  client: DynamoDBClient,
  tableName: string,
  { day, before, limit }: { readonly day: string; readonly before: string; readonly limit: number },
): Promise<readonly StreamPlace[]> {
  const pages = await Promise.all(
    [...ATTENTION_SHARDS].map((shard) =>
      client.send(
        new QueryCommand({
          TableName: tableName,
          IndexName: INDEXES.byAttention.name,
          KeyConditionExpression: 'attention = :attention AND attentionAt < :before',
          ExpressionAttributeValues: toItem({ ':attention': `${PARKED}#${day}#${shard}`, ':before': before }),
          Limit: limit,
        }),
      ),
    ),
  );
  const places = new Map<string, StreamPlace>();
  for (const item of pages.flatMap(({ Items = [] }) => Items)) {
    const row = fromItem(item);
    const aggregate = textOf(row, 'PK') ?? '';
    const stream = textOf(row, 'SK')?.split('#')[1] ?? '';
    places.set(JSON.stringify([aggregate, stream]), { aggregate, stream });
  }
  return [...places.values()];
}
