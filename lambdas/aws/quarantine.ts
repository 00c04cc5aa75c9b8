import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { numberOf, type Row, textOf } from '../core/ports.ts';
import { ATTENTION_SHARDS, type Attention, INDEXES, type ItemKey, inboxKey } from '../core/table.ts';
import { fromItem, toItem } from './items.ts';
import { createRowReader } from './rows.ts';

/** A case in the quarantine: a failed execution's, or a message that could not be started. */
export interface QuarantineCase {
  /** `<day>#<shard>/<sort key>`: what `show` and `close` take. */
  readonly id: string;
  readonly source: 'execution' | 'starter';
  readonly code: string;
  readonly reason: string;
  readonly message: string;
  readonly idempotencyKey?: string;
  readonly messageType?: string;
  readonly executionArn?: string;
  readonly attempts?: number;
  /** ISO 8601 */
  readonly openedAt: string;
  readonly closedAt?: string;
  readonly closedBy?: string;
  readonly closeReason?: string;
}

/** A case with what it holds. */
export interface QuarantineDetail extends QuarantineCase {
  /** The row with native values: `envelope` as text, or `body`/`bodyRef` and `messageAttributes`. */
  readonly row: Row;
}

/** One page of one shard; a day's shards are read side by side. */
const PAGE = 100;

/**
 * The open cases of a day, oldest first; with `closed`, the closed ones too.
 * @param day `yyyy-mm-dd`, UTC
 */
export async function listQuarantine(
  client: DynamoDBClient,
  tableName: string,
  day: string,
  options: { readonly closed?: boolean } = {},
): Promise<readonly QuarantineCase[]> {
  const rows = await Promise.all(
    [...ATTENTION_SHARDS].map((shard) =>
      queryAll(client, {
        TableName: tableName,
        KeyConditionExpression: 'PK = :pk',
        ExpressionAttributeValues: toItem({ ':pk': `QUARANTINE#${day}#${shard}` }),
        ...(options.closed ? {} : { FilterExpression: 'attribute_not_exists(closedAt)' }),
      }),
    ),
  );
  return rows
    .flat()
    .map(toCase)
    .sort((a, b) => (a.openedAt < b.openedAt ? -1 : a.openedAt > b.openedAt ? 1 : 0));
}

/** One case, or undefined when there is none of that id. */
export async function showQuarantine(
  client: DynamoDBClient,
  tableName: string,
  id: string,
): Promise<QuarantineDetail | undefined> {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: tableName, Key: toItem({ ...keyOf(id) }), ConsistentRead: true }),
  );
  if (Item === undefined) return undefined;
  const row = fromItem(Item);
  return { ...toCase(row), row };
}

/**
 * The input with which a failed key's execution was started, put together from its case: the inbox row says when
 * and in which execution it failed, and the case is named after both.
 *
 * @returns undefined when the row is not FAILED_TERMINAL, or its case is not there or does not hold the input
 */
export async function quarantinedInput(
  client: DynamoDBClient,
  tableName: string,
  inbox: Row,
): Promise<string | undefined> {
  if (textOf(inbox, 'status') !== 'FAILED_TERMINAL') return undefined;
  const failedAt = textOf(inbox, 'failedAt');
  const name = textOf(inbox, 'executionName');
  const hash = textOf(inbox, 'requestHash');
  if (failedAt === undefined || name === undefined || hash === undefined) return undefined;
  const [row] = await queryAll(client, {
    TableName: tableName,
    KeyConditionExpression: 'PK = :pk AND begins_with(SK, :sk)',
    ExpressionAttributeValues: toItem({
      ':pk': `QUARANTINE#${failedAt.slice(0, 10)}#${hash.slice(0, 1)}`,
      ':sk': `${failedAt}#${name}#`,
    }),
  });
  const envelope = textOf(row, 'envelope');
  const rest = textOf(row, 'input');
  if (envelope === undefined || rest === undefined) return undefined;
  return JSON.stringify({ ...JSON.parse(rest), envelope: JSON.parse(envelope) });
}

/**
 * Closes a case. Its row stays, with who closed it and why; only the attention index lets go of it.
 *
 * - `attribute_exists(PK)`: no row is made · `attribute_not_exists(closedAt)`: the first word stands
 *
 * @param by `completed` when its key has completed since, else the operator
 * @returns false when there is no such case or it was closed before
 */
export async function closeQuarantine(
  client: DynamoDBClient,
  tableName: string,
  id: string,
  closing: { readonly reason: string; readonly by: string; readonly at: string },
): Promise<boolean> {
  try {
    await client.send(
      new UpdateItemCommand({
        TableName: tableName,
        Key: toItem({ ...keyOf(id) }),
        UpdateExpression:
          'SET closedAt = :at, closedBy = :by, closeReason = :reason REMOVE attention, attentionAt',
        ConditionExpression: 'attribute_exists(PK) AND attribute_not_exists(closedAt)',
        ExpressionAttributeValues: toItem({
          ':at': closing.at,
          ':by': closing.by,
          ':reason': closing.reason,
        }),
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

/** Cases looked at in each of 16 shards of a day in one go. */
const CLOSING_PAGE = 25;

/**
 * Closes open cases of a day whose key has completed since; returns how many, and how many stay open. Looks at 400 of them at most, from an
 * hour of the day on that is another one in each turn, so that old cases which stay open hide no newer ones.
 */
export async function closeCompleted(
  client: DynamoDBClient,
  tableName: string,
  worker: string,
  { day, at, turn }: { readonly day: string; readonly at: string; readonly turn: number },
): Promise<{ readonly closed: number; readonly open: number }> {
  const from = `${day}T${String(turn % 24).padStart(2, '0')}`;
  const pages = await Promise.all(
    [...ATTENTION_SHARDS].map(async (shard) => {
      const attention = `QUARANTINED#${day}#${shard}`;
      const later = await openKeys(client, tableName, attention, 'attentionAt >= :from', from, CLOSING_PAGE);
      const left = CLOSING_PAGE - later.length;
      if (left === 0 || turn % 24 === 0) return later;
      return [...later, ...(await openKeys(client, tableName, attention, 'attentionAt < :from', from, left))];
    }),
  );
  const rows = createRowReader(client, tableName);
  const found = (await rows.read(pages.flat())).filter((row) => row !== undefined).map(toCase);
  const open = found.filter(({ idempotencyKey }) => idempotencyKey !== undefined);
  const inbox = await rows.read(open.map(({ idempotencyKey }) => inboxKey(idempotencyKey ?? '', worker)));
  let closed = 0;
  for (const [index, { id }] of open.entries()) {
    if (textOf(inbox[index], 'status') !== 'COMPLETED') continue;
    const closing = { reason: 'its key has completed', by: 'completed', at };
    if (await closeQuarantine(client, tableName, id, closing)) closed += 1;
  }
  return { closed, open: found.length - closed };
}

async function openKeys(
  client: DynamoDBClient,
  tableName: string,
  attention: string,
  condition: string,
  from: string,
  limit: number,
): Promise<readonly ItemKey[]> {
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: tableName,
      IndexName: INDEXES.byAttention.name,
      KeyConditionExpression: `attention = :attention AND ${condition}`,
      ExpressionAttributeValues: toItem({ ':attention': attention, ':from': from }),
      Limit: limit,
    }),
  );
  return Items.map(fromItem).map((row) => ({ PK: textOf(row, 'PK') ?? '', SK: textOf(row, 'SK') ?? '' }));
}

/**
 * The rows that need a person for one cause and day, oldest first, read in full.
 * @param day `yyyy-mm-dd`, UTC
 */
export async function listAttention(
  client: DynamoDBClient,
  tableName: string,
  attention: Attention,
  day: string,
): Promise<readonly Row[]> {
  const found = await Promise.all(
    [...ATTENTION_SHARDS].map((shard) =>
      queryAll(client, {
        TableName: tableName,
        IndexName: INDEXES.byAttention.name,
        KeyConditionExpression: 'attention = :attention',
        ExpressionAttributeValues: toItem({ ':attention': `${attention}#${day}#${shard}` }),
      }),
    ),
  );
  const keys = found
    .flat()
    .map((row): ItemKey => ({ PK: textOf(row, 'PK') ?? '', SK: textOf(row, 'SK') ?? '' }));
  const rows = await createRowReader(client, tableName).read(keys);
  const at = (row: Row) => textOf(row, 'attentionAt') ?? '';
  return rows.filter((row) => row !== undefined).sort((a, b) => (at(a) < at(b) ? -1 : at(a) > at(b) ? 1 : 0));
}

type QueryInput = ConstructorParameters<typeof QueryCommand>[0];

async function queryAll(client: DynamoDBClient, input: QueryInput): Promise<Row[]> {
  const rows: Row[] = [];
  let from: QueryInput['ExclusiveStartKey'];
  do {
    const page = await client.send(
      new QueryCommand({ ...input, Limit: PAGE, ...(from === undefined ? {} : { ExclusiveStartKey: from }) }),
    );
    rows.push(...(page.Items ?? []).map(fromItem));
    from = page.LastEvaluatedKey;
  } while (from !== undefined);
  return rows;
}

function keyOf(id: string): ItemKey {
  const slash = id.indexOf('/');
  return { PK: `QUARANTINE#${id.slice(0, Math.max(slash, 0))}`, SK: id.slice(slash + 1) };
}

function toCase(row: Row): QuarantineCase {
  const optional = {
    idempotencyKey: textOf(row, 'idempotencyKey'),
    messageType: textOf(row, 'messageType'),
    executionArn: textOf(row, 'executionArn'),
    attempts: numberOf(row, 'attempts'),
    closedAt: textOf(row, 'closedAt'),
    closedBy: textOf(row, 'closedBy'),
    closeReason: textOf(row, 'closeReason'),
  };
  return {
    id: `${(textOf(row, 'PK') ?? '').slice('QUARANTINE#'.length)}/${textOf(row, 'SK') ?? ''}`,
    source: textOf(row, 'source') === 'starter' ? 'starter' : 'execution',
    code: textOf(row, 'code') ?? '',
    reason: textOf(row, 'reason') ?? '',
    message: textOf(row, 'message') ?? '',
    openedAt: textOf(row, 'openedAt') ?? '',
    ...compact(optional),
  };
}

/** Without the attributes that the row lacks. */
function compact<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> };
function compact(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined));
}
