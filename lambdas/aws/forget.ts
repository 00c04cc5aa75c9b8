import { type DynamoDBClient, ScanCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { DeleteObjectsCommand, ListObjectVersionsCommand, type S3Client } from '@aws-sdk/client-s3';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { parseEnvelope } from '../core/envelope.ts';
import { type Row, textOf } from '../core/ports.ts';
import { asideFolder, sealedText } from '../core/seal.ts';
import { aggregateKey } from '../core/table.ts';
import { type SuspectMessage, sweepQueue } from './forget-queues.ts';
import { fromItem, toItem } from './items.ts';
import { OFFLOAD_PREFIX } from './payloads.ts';

/** What a tombstone keeps of an inbox row: that the key is known, of which request, and how it ended. */
const TOMBSTONE = ['PK', 'SK', 'status', 'outcome', 'requestHash', 'ttl', 'completedAt', 'failedAt'];
const FINAL = ['COMPLETED', 'FAILED_TERMINAL'];

export interface ForgetDeps {
  readonly dynamodb: DynamoDBClient;
  readonly s3: S3Client;
  readonly sqs: SQSClient;
  /** Queues without a consumer, where raw bodies lie: the dead-letter queue and the quarantine's. */
  readonly queueUrls: readonly string[];
  readonly tableName: string;
  readonly payloadBucket: string;
}

export interface ForgetRequest {
  readonly aggregateType: string;
  readonly aggregateId: string;
  /** Leaves the aggregate's own item as it is, e.g. where the law wants it kept. @default false */
  readonly keepAggregate?: boolean;
  readonly now: Date;
}

export interface ForgetReport {
  /** Keys whose inbox row is now a tombstone. */
  readonly tombstones: number;
  /** Rows deleted: the aggregate, effects, outbox, quarantine, conflicts. */
  readonly rows: number;
  /** Object versions and delete markers removed. */
  readonly objects: number;
  /** Messages deleted from the queues without a consumer. */
  readonly messages: number;
  /** Messages there that name the aggregate's id and are no envelopes: a person has to look at them. */
  readonly suspects: readonly SuspectMessage[];
  /** How many messages there could not be looked at: ask again. */
  readonly unseen: number;
  /** Keys that are still being worked on. Nothing of them was erased: ask again when they are done. */
  readonly unfinished: readonly string[];
}

/**
 * Erases what the worker holds of an aggregate: message bodies, effects with their requests and responses, outbox
 * and quarantine rows, objects put aside in all their versions, and the aggregate's item. Of each message a
 * tombstone stays, so that its key is still known and a late duplicate does nothing. Messages of the aggregate in the
 * queues without a consumer are deleted.
 *
 * Reads the whole table, since effects and quarantine rows are not indexed by aggregate: a person asks for this
 * seldom. Safe to repeat, and to be repeated after it broke off. What it cannot reach: histories of executions whose
 * type does not say `data: 'reference'`, cached effects that other messages share, the worker's own queue, backups, domain tables.
 */
export async function forgetAggregate(request: ForgetRequest, deps: ForgetDeps): Promise<ForgetReport> {
  const { PK } = aggregateKey(request.aggregateType, request.aggregateId);
  const waiting = aggregateKey(request.aggregateType, sealedText(request.aggregateId)).PK;
  const scope = { request, partition: PK, waiting };
  const keys = new Map<string, boolean>();
  for await (const row of scan(deps)) {
    if (textOf(row, 'aggregate') === PK) keys.set(keyOf(row), FINAL.includes(textOf(row, 'status') ?? ''));
  }
  const finished = new Set([...keys].flatMap(([key, final]) => (final ? [key] : [])));
  const unfinished = [...keys].flatMap(([key, final]) => (final ? [] : [key]));

  let objects = 0;
  for (const key of finished) objects += await eraseFolder(asideFolder(key), deps);

  let tombstones = 0;
  let rows = 0;
  for await (const row of scan(deps)) {
    const fate = fateOf(row, { ...scope, finished, allDone: unfinished.length === 0 });
    if (fate === 'keep') continue;
    if (fate === 'tombstone') tombstones += 1;
    else rows += 1;
    await replace(row, fate === 'tombstone' ? tombstoneOf(row, request.now) : undefined, deps);
  }
  const sweeps = [];
  for (const queueUrl of deps.queueUrls) {
    const { aggregateId: id } = request;
    sweeps.push(await sweepQueue(queueUrl, { isOf: (body) => isBodyOf(body, request), id, sqs: deps.sqs }));
  }
  return {
    tombstones,
    rows,
    objects,
    messages: sweeps.reduce((sum, { deleted }) => sum + deleted, 0),
    suspects: sweeps.flatMap(({ suspects }) => suspects),
    unseen: sweeps.reduce((sum, { unseen }) => sum + unseen, 0),
    unfinished,
  };
}

interface Scope {
  readonly request: ForgetRequest;
  readonly partition: string;
  /** Where its streams wait by digest. */
  readonly waiting: string;
  readonly finished: ReadonlySet<string>;
  readonly allDone: boolean;
}

function fateOf(row: Row, scope: Scope): 'keep' | 'tombstone' | 'delete' {
  const { partition, waiting, finished, request } = scope;
  const pk = textOf(row, 'PK') ?? '';
  const [kind = ''] = pk.split('#', 1);
  switch (kind) {
    case 'IDEMP':
      if (!finished.has(keyOf(row))) return 'keep';
      return textOf(row, 'SK')?.startsWith('WORKER#') ? 'tombstone' : 'delete';
    case 'EFFECT': {
      const key = pk.slice('EFFECT#'.length);
      return finished.has(key.slice(0, key.lastIndexOf('#'))) ? 'delete' : 'keep';
    }
    case 'OUTBOX':
      return isOf(textOf(row, 'envelope'), request) ? 'delete' : 'keep';
    case 'QUARANTINE': {
      const own = finished.has(textOf(row, 'idempotencyKey') ?? '');
      return own || isOf(textOf(row, 'body'), request) ? 'delete' : 'keep';
    }
    default: {
      const its = pk === partition || pk === `COUNTER#${partition}` || pk === waiting;
      return its && scope.allDone && request.keepAggregate !== true ? 'delete' : 'keep';
    }
  }
}

const keyOf = (row: Row): string => (textOf(row, 'PK') ?? '').slice('IDEMP#'.length);

/** Whether a text is an envelope of the aggregate. */
function isOf(text: string | undefined, request: ForgetRequest): boolean {
  const result = parseEnvelope(text ?? '');
  return (
    result.ok &&
    result.envelope.aggregateType.toUpperCase() === request.aggregateType.toUpperCase() &&
    result.envelope.aggregateId === request.aggregateId
  );
}

/**
 * Whether a body is of the aggregate, though it be no valid envelope, or one inside a notice of the quarantine, an event
 * of EventBridge or a notification of SNS; undefined where it says of none.
 */
function isBodyOf(body: string, request: ForgetRequest): boolean | undefined {
  const parsed = jsonOf(body);
  const value = typeof parsed === 'string' ? jsonOf(parsed) : parsed;
  const ids = [request.aggregateId, sealedText(request.aggregateId)];
  const message = fieldOf(value, 'Message');
  const places = [
    value,
    fieldOf(value, 'envelope'),
    fieldOf(value, 'detail'),
    typeof message === 'string' ? jsonOf(message) : undefined,
  ];
  const answers = places.flatMap((one) => {
    const type = fieldOf(one, 'aggregateType');
    const id = fieldOf(one, 'aggregateId');
    if (typeof type !== 'string' || typeof id !== 'string') return [];
    return [type.toUpperCase() === request.aggregateType.toUpperCase() && ids.includes(id)];
  });
  return answers.length === 0 ? undefined : answers.includes(true);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;

function tombstoneOf(row: Row, now: Date): Row {
  const kept = Object.entries(row).filter(([name]) => TOMBSTONE.includes(name));
  return { ...Object.fromEntries(kept), forgottenAt: now.toISOString() };
}

/** On condition that the row is of the same status: one that was replayed meanwhile is being worked on. */
async function replace(row: Row, by: Row | undefined, { dynamodb, tableName }: ForgetDeps): Promise<void> {
  const status = textOf(row, 'status');
  const guard =
    status === undefined
      ? {}
      : {
          ConditionExpression: '#status = :status',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: toItem({ ':status': status }),
        };
  const action =
    by === undefined
      ? { Delete: { TableName: tableName, Key: toItem({ PK: row.PK, SK: row.SK }), ...guard } }
      : { Put: { TableName: tableName, Item: toItem(by), ...guard } };
  await dynamodb.send(new TransactWriteItemsCommand({ TransactItems: [action] }));
}

async function* scan({ dynamodb, tableName }: ForgetDeps): AsyncGenerator<Row> {
  let start: Record<string, ReturnType<typeof toItem>[string]> | undefined;
  do {
    const page = await dynamodb.send(
      new ScanCommand({
        TableName: tableName,
        ConsistentRead: true,
        ...(start === undefined ? {} : { ExclusiveStartKey: start }),
      }),
    );
    yield* (page.Items ?? []).map(fromItem);
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
}

async function eraseFolder(folder: string, { s3, payloadBucket }: ForgetDeps): Promise<number> {
  let erased = 0;
  for (;;) {
    // Always from the beginning: what was listed is gone by then.
    const page = await s3.send(
      new ListObjectVersionsCommand({ Bucket: payloadBucket, Prefix: `${OFFLOAD_PREFIX}${folder}/` }),
    );
    const found = [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])].map(({ Key, VersionId }) => ({
      Key,
      VersionId,
    }));
    if (found.length === 0) return erased;
    const { Errors = [] } = await s3.send(
      new DeleteObjectsCommand({ Bucket: payloadBucket, Delete: { Objects: found, Quiet: true } }),
    );
    const [first] = Errors;
    if (first !== undefined) {
      throw new Error(`${Errors.length} objects in ${payloadBucket} could not be erased: ${first.Code}`);
    }
    erased += found.length;
  }
}
