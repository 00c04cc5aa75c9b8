import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { WireEffect } from '../core/decision.ts';
import type { Claim, EffectLog, Lease, LogWrite } from '../core/effect-log.ts';
import { toEffectRow, toText } from '../core/effect-row.ts';
import type { EffectRow } from '../core/effects.ts';
import { sha256 } from '../core/identity.ts';
import { attentionKey, effectRowKey } from '../core/table.ts';
import { type Expression, ttlAfter, updateOf } from '../core/transaction.ts';
import { expressionInput, fromItem, toItem } from './items.ts';
import { routingTransientFaults } from './transient.ts';

/** A cached answer's row outlives the answer by a day, so that its key's generation is known meanwhile. */
const CACHE_GRACE_SECONDS = 24 * 60 * 60;

/** Attributes that only a claim in progress, a failure, a doubt or an answer has. */
const LEASE = ['leaseOwner', 'leaseUntil'];
const FAILURE = [
  'failureKind',
  'failureCode',
  'failureMessage',
  'retryAfterSeconds',
  'failedIn',
  'failedAt',
  'unsettled',
];
const ATTENTION = ['attention', 'attentionAt', 'inDoubtSince'];
const ANSWER = ['providerReference', 'response', 'responseRef', 'completedAt', 'expiresAt'];

export interface EffectLogOptions {
  readonly tableName: string;
  /** Seconds that a final row is kept: longer than its message can be replayed. Cached answers have their own. */
  readonly ttlSeconds: number;
}

/**
 * The effect rows of the worker's table. PENDING and IN_DOUBT rows have no TTL: what is not decided must not vanish.
 *
 * @throws RoutedError `Throttled` from every method when DynamoDB did not answer or asks for patience: the write may
 *   have been done or not
 */
export function createEffectLog(client: DynamoDBClient, options: EffectLogOptions): EffectLog {
  const { tableName, ttlSeconds } = options;

  async function write(send: () => Promise<unknown>): Promise<LogWrite> {
    try {
      await routingTransientFaults(send);
      return { written: true };
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      return {
        written: false,
        row: toEffectRow(error.Item === undefined ? undefined : fromItem(error.Item)),
      };
    }
  }

  function update(
    effect: WireEffect,
    set: Readonly<Record<string, unknown>>,
    remove: readonly string[],
    condition: Expression,
  ): Promise<LogWrite> {
    const change = updateOf(set, remove);
    return write(() =>
      client.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: toItem({ ...effectRowKey(effect.key) }),
          ...expressionInput({
            update: {
              text: `${change.text} ADD #revision :one`,
              names: { ...change.names, '#revision': 'revision' },
              values: { ...change.values, ':one': 1 },
            },
            condition,
          }),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );
  }

  return {
    open: (effect, lease) =>
      write(() =>
        client.send(
          new PutItemCommand({
            TableName: tableName,
            Item: toItem({
              ...effectRowKey(effect.key),
              ...claimed(
                effect,
                { generation: 1, requestHash: effect.requestHash, request: effect.request, tries: 1 },
                lease,
              ),
              generationAt: lease.at,
              createdAt: lease.at,
              attempts: 1,
              revision: 1,
            }),
            ConditionExpression: 'attribute_not_exists(PK)',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        ),
      ),

    take: (effect, claim, row, lease) =>
      update(
        effect,
        {
          ...claimed(effect, claim, lease),
          ...(claim.generation === row.generation ? {} : { generationAt: lease.at }),
          attempts: row.attempts + 1,
        },
        [...FAILURE, ...ANSWER, 'ttl'],
        asRead(row),
      ),

    takeForLookup: (effect, row, lease) =>
      update(effect, { status: 'PENDING', ...held(lease) }, [...FAILURE, 'ttl'], asRead(row)),

    renew: (effect, claim, lease) =>
      update(effect, { ...claimed(effect, claim, lease), generationAt: lease.at }, [], ownedBy(lease.owner)),

    extend: (effect, owner, until) => update(effect, { leaseUntil: until }, [], ownedBy(owner)),

    complete(effect, claim, owner, answer) {
      const { cache } = effect;
      return update(
        effect,
        {
          status: 'COMPLETED',
          ...identityOf(effect),
          requestHash: claim.requestHash,
          request: toText(claim.request),
          generation: claim.generation,
          providerReference: answer.reference,
          response: toText(answer.response),
          responseRef: answer.responseRef === undefined ? undefined : { ...answer.responseRef },
          completedAt: answer.at,
          cacheVersion: cache?.version,
          expiresAt:
            cache === undefined
              ? undefined
              : new Date(Date.parse(answer.at) + cache.ttlSeconds * 1000).toISOString(),
          ttl: ttlAfter(answer.at, cache === undefined ? ttlSeconds : cache.ttlSeconds + CACHE_GRACE_SECONDS),
        },
        [...LEASE, ...FAILURE, ...ATTENTION],
        cache === undefined ? notCompleted : ownedBy(owner),
      );
    },

    fail: (effect, owner, failure) =>
      update(
        effect,
        {
          status: 'FAILED',
          failureKind: failure.kind,
          failureCode: failure.code,
          failureMessage: failure.message,
          retryAfterSeconds: failure.retryAfterSeconds,
          failedIn: failure.failedIn,
          failedAt: failure.at,
          unsettled: failure.unsettled ? true : undefined,
          ttl: ttlAfter(failure.at, ttlSeconds),
        },
        [...LEASE, ...(failure.unsettled ? [] : ['unsettled'])],
        ownedBy(owner),
      ),

    doubt: (effect, by, doubt) =>
      update(
        effect,
        {
          status: 'IN_DOUBT',
          inDoubtSince: doubt.at,
          failureCode: doubt.code,
          failureMessage: doubt.message,
          attention: attentionKey('IN_DOUBT', doubt.at, sha256(effect.key)),
          attentionAt: doubt.at,
        },
        [...LEASE, 'ttl'],
        'owner' in by ? ownedBy(by.owner) : asRead(by.row),
      ),

    async keepLate(effect, late) {
      await update(effect, { lateResult: { ...late } }, [], {
        text: 'attribute_exists(PK)',
        names: {},
        values: {},
      });
    },
  };
}

/** The row is as it was read: every write counts `revision` up. */
const asRead = (row: EffectRow): Expression => ({
  text: '#revision = :revision',
  names: { '#revision': 'revision' },
  values: { ':revision': row.revision },
});

/** The lease is still this invocation's: nobody stole it, nobody recorded, nobody resolved. */
const ownedBy = (owner: string): Expression => ({
  text: '#status = :pending AND leaseOwner = :owner',
  names: { '#status': 'status' },
  values: { ':pending': 'PENDING', ':owner': owner },
});

/** No answer is there yet; also when the row itself has gone, since the effect has not. */
const notCompleted: Expression = {
  text: 'attribute_not_exists(#status) OR #status <> :completed',
  names: { '#status': 'status' },
  values: { ':completed': 'COMPLETED' },
};

const identityOf = (effect: WireEffect) => ({
  provider: effect.provider,
  operation: effect.operation,
  effectName: effect.name,
  idempotencyKey: effect.idempotencyKey,
  correlationId: effect.correlationId,
});

const held = (lease: Lease) => ({
  leaseOwner: lease.owner,
  leaseUntil: lease.until,
  claimedAt: lease.at,
  executionName: lease.executionName,
});

const claimed = (effect: WireEffect, claim: Claim, lease: Lease) => ({
  status: 'PENDING',
  ...identityOf(effect),
  ...held(lease),
  requestHash: claim.requestHash,
  request: toText(claim.request),
  generation: claim.generation,
  tries: claim.tries,
  budget: lease.budget,
  cacheVersion: effect.cache?.version,
});
