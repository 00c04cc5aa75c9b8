import { type DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { SweepCursor } from '../reconciler/reconciler.ts';
import { fromItem, toItem } from './items.ts';

const KEY = { PK: 'COUNTER#RECONCILER', SK: 'SWEEP' } as const;

/** How far the sweeps have come; undefined before the first one. */
export async function readCursor(
  client: DynamoDBClient,
  tableName: string,
): Promise<SweepCursor | undefined> {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: tableName, Key: toItem(KEY), ConsistentRead: true }),
  );
  const text = Item === undefined ? undefined : fromItem(Item).cursor;
  return typeof text === 'string' ? JSON.parse(text) : undefined;
}

/** Two sweeps at once may overwrite each other's: then a stretch is looked through twice, which changes nothing. */
export async function writeCursor(
  client: DynamoDBClient,
  tableName: string,
  cursor: SweepCursor,
): Promise<void> {
  await client.send(
    new PutItemCommand({ TableName: tableName, Item: toItem({ ...KEY, cursor: JSON.stringify(cursor) }) }),
  );
}
