import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { SFNClient } from '@aws-sdk/client-sfn';
import { toText } from '../core/effect-row.ts';
import { type Row, textOf } from '../core/ports.ts';
import { effectRowKey } from '../core/table.ts';
import { ttlAfter, updateOf } from '../core/transaction.ts';
import { expressionInput, fromItem, toItem } from './items.ts';
import { createRowReader } from './rows.ts';
import { answerToken, deleteWaiter } from './waiters.ts';

/** 400 days, as RunEffect keeps a settled effect. */
const RESOLVED_TTL_SECONDS = 400 * 24 * 60 * 60;
/** Keys of the effect log that cached answers have. */
const CACHE_PREFIX = 'EFFECT#CACHE#';

/** What a person found out about an effect in doubt. */
export type EffectVerdict =
  | { readonly verdict: 'completed'; readonly reference: string; readonly response?: unknown }
  /** It has not happened: it is carried out again, under a new provider key. */
  | { readonly verdict: 'notDone' }
  /** It has not happened and is not to: the message fails with this code, and a replay would try again. */
  | { readonly verdict: 'failed'; readonly code: string };

export interface ResolveEffectDeps {
  readonly dynamodb: DynamoDBClient;
  readonly sfn: SFNClient;
  readonly tableName: string;
  /** ISO 8601 */
  readonly at: string;
}

export interface Resolution {
  /** False when the effect was not in doubt (any more); executions that still wait are woken all the same. */
  readonly resolved: boolean;
  /** Executions that were woken. */
  readonly woken: number;
}

/**
 * Writes a person's verdict and wakes everybody who waits for it. The row comes first, on condition that it is in
 * doubt: who is woken reads it, and a resolution that was cut off is finished by repeating it.
 */
export async function resolveEffect(
  key: string,
  verdict: EffectVerdict,
  deps: ResolveEffectDeps,
): Promise<Resolution> {
  const resolved = await writeVerdict(key, verdict, deps);
  const { Items = [] } = await deps.dynamodb.send(
    new QueryCommand({
      TableName: deps.tableName,
      ConsistentRead: true,
      KeyConditionExpression: 'PK = :pk AND begins_with(SK, :waiter)',
      ExpressionAttributeValues: toItem({ ':pk': effectRowKey(key).PK, ':waiter': 'WAITER#' }),
    }),
  );
  let woken = 0;
  for (const item of Items.map(fromItem)) {
    const taskToken = textOf(item, 'taskToken') ?? '';
    if ((await answerToken(deps.sfn, taskToken)) === 'answered') woken += 1;
    await deleteWaiter(deps.dynamodb, deps.tableName, {
      PK: effectRowKey(key).PK,
      SK: textOf(item, 'SK') ?? '',
      taskToken,
      executionName: textOf(item, 'executionName') ?? '',
    });
  }
  return { resolved, woken };
}

async function writeVerdict(key: string, verdict: EffectVerdict, deps: ResolveEffectDeps): Promise<boolean> {
  const [row] = await createRowReader(deps.dynamodb, deps.tableName).read([effectRowKey(key)]);
  const update = updateOf(
    { ...statusOf(verdict, row), resolvedAt: deps.at, ttl: ttlAfter(deps.at, RESOLVED_TTL_SECONDS) },
    ['attention', 'attentionAt', 'inDoubtSince', 'leaseOwner', 'leaseUntil'],
  );
  try {
    await deps.dynamodb.send(
      new UpdateItemCommand({
        TableName: deps.tableName,
        Key: toItem({ ...effectRowKey(key) }),
        ...expressionInput({
          update: {
            text: `${update.text} ADD revision :one`,
            names: update.names,
            values: { ...update.values, ':one': 1 },
          },
          condition: {
            text: '#status = :inDoubt',
            names: { '#status': 'status' },
            values: { ':inDoubt': 'IN_DOUBT' },
          },
        }),
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

function statusOf(verdict: EffectVerdict, row: Row | undefined): Record<string, unknown> {
  switch (verdict.verdict) {
    case 'completed':
      return {
        status: 'COMPLETED',
        providerReference: verdict.reference,
        response: toText(verdict.response),
      };
    case 'notDone':
      return { status: 'FAILED', failureKind: 'retryable', failureCode: 'NOT_DONE', unsettled: false };
    case 'failed':
      return {
        status: 'FAILED',
        failureKind: 'terminal',
        failureCode: verdict.code,
        failureMessage: 'a person said that the effect has failed',
        unsettled: false,
        // Stands for every attempt of the budget that asked; a replay has another one.
        failedIn: textOf(row, 'budget'),
      };
  }
}

/** A shared answer, without the answer. */
export interface CachedAnswer {
  readonly key: string;
  readonly status: string;
  readonly provider: string | undefined;
  readonly expiresAt: string | undefined;
}

/** The shared answers that the log holds. Scans the table: a tool for people, not for code that runs often. */
export async function listCache(
  client: DynamoDBClient,
  tableName: string,
  limit: number,
): Promise<readonly CachedAnswer[]> {
  const found: CachedAnswer[] = [];
  let from: Record<string, unknown> | undefined;
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: tableName,
        FilterExpression: 'begins_with(PK, :cache) AND SK = :log',
        ExpressionAttributeValues: toItem({ ':cache': CACHE_PREFIX, ':log': 'LOG' }),
        ...(from === undefined ? {} : { ExclusiveStartKey: toItem(from) }),
      }),
    );
    for (const row of (page.Items ?? []).map(fromItem)) {
      found.push({
        key: (textOf(row, 'PK') ?? '').slice(CACHE_PREFIX.length),
        status: textOf(row, 'status') ?? '',
        provider: textOf(row, 'provider'),
        expiresAt: textOf(row, 'expiresAt'),
      });
    }
    from = page.LastEvaluatedKey === undefined ? undefined : { ...fromItem(page.LastEvaluatedKey) };
  } while (from !== undefined && found.length < limit);
  return found.slice(0, limit);
}

/**
 * Makes a shared answer void from now on: the next question is asked anew.
 * @returns false when there is none
 */
export async function purgeCache(
  client: DynamoDBClient,
  tableName: string,
  cacheKey: string,
  at: string,
): Promise<boolean> {
  try {
    await client.send(
      new UpdateItemCommand({
        TableName: tableName,
        Key: toItem({ ...effectRowKey(`CACHE#${cacheKey}`) }),
        UpdateExpression: 'SET expiresAt = :at ADD revision :one',
        ConditionExpression: '#status = :completed',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: toItem({ ':at': at, ':one': 1, ':completed': 'COMPLETED' }),
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
