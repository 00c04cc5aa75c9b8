import {
  type CancellationReason,
  type DynamoDBClient,
  paginateScan,
  TransactionCanceledException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectVersionsCommand,
  NoSuchKey,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { type Row, textOf } from '../core/ports.ts';
import { asideFolder, sealedText } from '../core/seal.ts';
import { aggregateKey } from '../core/table.ts';
import { holdsId, isBodyOf, isEnvelopeOf } from './forget-bodies.ts';
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
  /** Messages there that hold the aggregate's id and name no aggregate: a person has to look at them. */
  readonly suspects: readonly SuspectMessage[];
  /** Ids of quarantine cases whose body holds the aggregate's id and names no aggregate: a person has to look at them. */
  readonly suspectCases: readonly string[];
  /** How many messages there could not be looked at: ask again. */
  readonly unseen: number;
  /** Keys that are still being worked on, and rows that changed meanwhile. They were left: ask again when they are done. */
  readonly unfinished: readonly string[];
}

/**
 * Erases what the worker holds of an aggregate: message bodies, effects with their requests and responses, outbox
 * and quarantine rows, objects put aside in all their versions, and the aggregate's item. Of each message a
 * tombstone stays, so that its key is still known and a late duplicate does nothing. Messages of the aggregate in the
 * queues without a consumer are deleted.
 *
 * Reads the whole table, since effects and quarantine rows are not indexed by aggregate: a person asks for this
 * seldom. Safe to repeat, also after it broke off. What it cannot reach: histories of executions whose type does not say
 * `data: 'reference'`, cached effects that other messages share, the worker's own queue, backups, domain tables.
 */
export async function forgetAggregate(request: ForgetRequest, deps: ForgetDeps): Promise<ForgetReport> {
  const { PK } = aggregateKey(request.aggregateType, request.aggregateId);
  const waiting = aggregateKey(request.aggregateType, sealedText(request.aggregateId)).PK;
  const scope = { request, partition: PK, waiting };
  const keys = new Map<string, boolean>();
  for await (const row of scan(deps)) {
    if (isWorkOf(row, scope)) keys.set(keyOf(row), FINAL.includes(textOf(row, 'status') ?? ''));
  }
  const finished = new Set([...keys].flatMap(([key, final]) => (final ? [key] : [])));
  const worked = new Set([...keys].flatMap(([key, final]) => (final ? [] : [key])));
  const unfinished = [...worked];

  let objects = 0;
  for (const key of finished) objects += await eraseObjects(`${OFFLOAD_PREFIX}${asideFolder(key)}/`, deps);

  let tombstones = 0;
  let rows = 0;
  const suspectCases: string[] = [];
  for await (const row of scan(deps)) {
    const refused = await refusedBody(row, deps);
    const fate = fateOf(row, refused, { ...scope, finished, worked, allDone: unfinished.length === 0 });
    if (fate === 'suspect') suspectCases.push(caseId(row));
    if (fate === 'keep' || fate === 'suspect') continue;
    if (!(await replace(row, fate === 'tombstone' ? tombstoneOf(row, request.now) : undefined, deps))) {
      unfinished.push(nameOf(row));
      continue;
    }
    if (fate === 'tombstone') tombstones += 1;
    else rows += 1;
    if (refused?.key !== undefined) objects += await eraseObjects(refused.key, deps);
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
    suspectCases,
    unseen: sweeps.reduce((sum, { unseen }) => sum + unseen, 0),
    unfinished,
  };
}

/** Partitions that an aggregate has. */
interface Place {
  readonly partition: string;
  /** The partition where messages of sealed types wait for their turn: it names the aggregate by its digest. */
  readonly waiting: string;
}

interface Scope extends Place {
  readonly request: ForgetRequest;
  /** Keys of the aggregate's messages that are done with, and of those that are not. */
  readonly finished: ReadonlySet<string>;
  readonly worked: ReadonlySet<string>;
  readonly allDone: boolean;
}

/** A message of a sealed type whose execution was started by hand, before any delivery, has the digest in its index key. */
const isWorkOf = (row: Row, { partition, waiting }: Place): boolean =>
  [partition, waiting].includes(textOf(row, 'aggregate') ?? '');

/** Whether a row of the inbox names the aggregate, by its id or by the digest of it. */
const isNamedIn = (row: Row, { partition, waiting }: Place): boolean =>
  [partition, waiting].includes(
    aggregateKey(textOf(row, 'aggregateType') ?? '', textOf(row, 'aggregateId') ?? '').PK,
  );

/** A message that was refused, as its case in the quarantine holds it. */
interface RefusedBody {
  readonly text: string;
  /** Key of the object, where the text does not lie in the row itself. */
  readonly key?: string;
}

async function refusedBody(row: Row, deps: ForgetDeps): Promise<RefusedBody | undefined> {
  const text = textOf(row, 'body');
  if (text !== undefined) return { text };
  const ref = row.bodyRef;
  if (typeof ref !== 'object' || ref === null || !('key' in ref) || typeof ref.key !== 'string') {
    return undefined;
  }
  try {
    const { Body } = await deps.s3.send(new GetObjectCommand({ Bucket: deps.payloadBucket, Key: ref.key }));
    return { text: (await Body?.transformToString()) ?? '', key: ref.key };
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}

function fateOf(
  row: Row,
  refused: RefusedBody | undefined,
  scope: Scope,
): 'keep' | 'tombstone' | 'delete' | 'suspect' {
  const { partition, waiting, finished, worked, request } = scope;
  const pk = textOf(row, 'PK') ?? '';
  const [kind = ''] = pk.split('#', 1);
  switch (kind) {
    case 'IDEMP':
      if (textOf(row, 'SK')?.startsWith('WORKER#')) return finished.has(keyOf(row)) ? 'tombstone' : 'keep';
      // A conflict that came after the tombstone, or beside another aggregate's message, is found by its own words.
      return finished.has(keyOf(row)) || (isNamedIn(row, scope) && !worked.has(keyOf(row)))
        ? 'delete'
        : 'keep';
    case 'EFFECT': {
      const key = pk.slice('EFFECT#'.length);
      return finished.has(key.slice(0, key.lastIndexOf('#'))) ? 'delete' : 'keep';
    }
    case 'OUTBOX':
      return isEnvelopeOf(textOf(row, 'envelope'), request) ? 'delete' : 'keep';
    case 'QUARANTINE': {
      if (finished.has(textOf(row, 'idempotencyKey') ?? '')) return 'delete';
      const its = refused === undefined ? false : isBodyOf(refused.text, request);
      if (its === undefined && holdsId(refused?.text ?? '', request.aggregateId)) return 'suspect';
      return its === true ? 'delete' : 'keep';
    }
    default: {
      const its = pk === partition || pk === `COUNTER#${partition}` || pk === waiting;
      return its && scope.allDone && request.keepAggregate !== true ? 'delete' : 'keep';
    }
  }
}

/** Id of a case, as `stepwell quarantine show` takes it. */
const caseId = (row: Row): string =>
  `${(textOf(row, 'PK') ?? '').slice('QUARANTINE#'.length)}/${textOf(row, 'SK') ?? ''}`;

/** What a person knows a row by: a message by its key, anything else by the row's. */
const nameOf = (row: Row): string =>
  textOf(row, 'PK')?.startsWith('IDEMP#') ? keyOf(row) : (textOf(row, 'PK') ?? '');

const keyOf = (row: Row): string => (textOf(row, 'PK') ?? '').slice('IDEMP#'.length);

function tombstoneOf(row: Row, now: Date): Row {
  const kept = Object.entries(row).filter(([name]) => TOMBSTONE.includes(name));
  return { ...Object.fromEntries(kept), forgottenAt: now.toISOString() };
}

/**
 * Deletes a row, or puts another in its place, on condition that status, revision and versions are as they were read. They differ
 * when the message was replayed meanwhile, or another has committed on the aggregate.
 *
 * @param by what takes the row's place. Undefined: nothing
 * @returns false when the row was left, because it has changed
 */
async function replace(row: Row, by: Row | undefined, { dynamodb, tableName }: ForgetDeps): Promise<boolean> {
  const read = Object.keys(row).filter((name) => /^(status|revision|version#.*)$/.test(name));
  const guard =
    read.length === 0
      ? {}
      : {
          ConditionExpression: read.map((_, index) => `#n${index} = :v${index}`).join(' AND '),
          ExpressionAttributeNames: Object.fromEntries(read.map((name, index) => [`#n${index}`, name])),
          ExpressionAttributeValues: toItem(
            Object.fromEntries(read.map((name, index) => [`:v${index}`, row[name]])),
          ),
        };
  const action =
    by === undefined
      ? { Delete: { TableName: tableName, Key: toItem({ PK: row.PK, SK: row.SK }), ...guard } }
      : { Put: { TableName: tableName, Item: toItem(by), ...guard } };
  try {
    await dynamodb.send(new TransactWriteItemsCommand({ TransactItems: [action] }));
    return true;
  } catch (error) {
    if (error instanceof TransactionCanceledException && error.CancellationReasons?.every(isRaceLost)) {
      return false;
    }
    throw error;
  }
}

const isRaceLost = ({ Code }: CancellationReason): boolean =>
  Code === 'ConditionalCheckFailed' || Code === 'TransactionConflict';

async function* scan({ dynamodb, tableName }: ForgetDeps): AsyncGenerator<Row> {
  const input = { TableName: tableName, ConsistentRead: true };
  for await (const { Items = [] } of paginateScan({ client: dynamodb }, input)) yield* Items.map(fromItem);
}

/** Erases all versions of all objects whose keys begin with the prefix. @returns how many */
async function eraseObjects(prefix: string, { s3, payloadBucket }: ForgetDeps): Promise<number> {
  let erased = 0;
  for (;;) {
    // Always from the beginning: what was listed is gone by then.
    const page = await s3.send(new ListObjectVersionsCommand({ Bucket: payloadBucket, Prefix: prefix }));
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
