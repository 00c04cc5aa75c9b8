import { GetItemCommand, paginateQuery } from '@aws-sdk/client-dynamodb';
import { fromItem, toItem } from '../lambdas/aws/items.ts';
import { createRowReader } from '../lambdas/aws/rows.ts';
import { type Row, textOf } from '../lambdas/core/ports.ts';
import { sealedKey } from '../lambdas/core/seal.ts';
import { aggregateKey, INDEXES, type ItemKey, inboxKey } from '../lambdas/core/table.ts';
import { CliError } from './cli-error.ts';
import type { Target } from './target.ts';

/**
 * The inbox row of a key, also of one that is known by its digest only; undefined when the worker has never seen it.
 * @throws CliError for an empty key
 */
export async function readInbox(target: Target, idempotencyKey: string): Promise<Row | undefined> {
  if (idempotencyKey.trim() === '') {
    throw new CliError('Give the idempotency key of the message, as its producer sent it');
  }
  const key = idempotencyKey.normalize('NFC');
  const { workerName } = target.names;
  return (
    (await readRow(target, inboxKey(key, workerName))) ??
    (await readRow(target, inboxKey(sealedKey(key), workerName)))
  );
}

export async function readRow(target: Target, key: ItemKey): Promise<Row | undefined> {
  const { Item } = await target.clients.dynamodb.send(
    new GetItemCommand({ TableName: target.names.tableName, Key: toItem({ ...key }), ConsistentRead: true }),
  );
  return Item === undefined ? undefined : fromItem(Item);
}

/** The idempotency key of an inbox row. */
export const keyOfRow = (row: Row): string => (textOf(row, 'PK') ?? '').slice('IDEMP#'.length);

/** The inbox rows of one aggregate, in version order per ordering stream. */
export async function inboxOfAggregate(target: Target, type: string, id: string): Promise<readonly Row[]> {
  const { dynamodb } = target.clients;
  const { tableName } = target.names;
  const keys: ItemKey[] = [];
  const pages = paginateQuery(
    { client: dynamodb },
    {
      TableName: tableName,
      IndexName: INDEXES.byAggregate.name,
      KeyConditionExpression: '#aggregate = :aggregate',
      ExpressionAttributeNames: { '#aggregate': 'aggregate' },
      ExpressionAttributeValues: toItem({ ':aggregate': aggregateKey(type, id).PK }),
    },
  );
  for await (const { Items = [] } of pages) {
    for (const row of Items.map(fromItem)) {
      keys.push({ PK: textOf(row, 'PK') ?? '', SK: textOf(row, 'SK') ?? '' });
    }
  }
  const rows = await createRowReader(dynamodb, tableName).read(keys);
  return rows.filter((row) => row !== undefined);
}

/** Type and id of an aggregate that is written TYPE/ID; undefined where one of them is missing. */
export function parseAggregate(text: string): { readonly type: string; readonly id: string } | undefined {
  const [, type, id] = /^([^/]+)\/(.+)$/s.exec(text) ?? [];
  return type === undefined || id === undefined ? undefined : { type, id };
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `30m`, `24h` or `7d`. @throws CliError */
export function parseDuration(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  const factor = UNITS[unit];
  if (factor === undefined) throw new CliError(`"${text}" is no duration: write e.g. 30m, 24h or 7d`);
  return Number(count) * factor;
}

/** What a list that goes back for a time only says of it. */
export const lookedBack = (since: string): string => `Looked back ${since}; --since looks back further`;

/** Days (`yyyy-mm-dd`, UTC) that a time back from now touches, oldest first. */
export function daysBack(now: number, milliseconds: number): readonly string[] {
  const days: string[] = [];
  const today = new Date(now).toISOString().slice(0, 10);
  for (let at = now - milliseconds; ; at += 86_400_000) {
    const day = new Date(at).toISOString().slice(0, 10);
    if (day >= today) return [...days, today];
    days.push(day);
  }
}
