import type { WireEffect } from './decision.ts';
import type { PayloadRef } from './envelope.ts';
import { FAILURE_CODES } from './errors.ts';
import type { FailureRecord } from './execution.ts';
import type { JsonValue } from './json.ts';
import type { EffectRequest, EffectResult } from './message-type.ts';
import { fromWire } from './wire.ts';

export const EFFECT_STATUSES = ['PENDING', 'COMPLETED', 'FAILED', 'IN_DOUBT'] as const;
export type EffectStatus = (typeof EFFECT_STATUSES)[number];

/** An effect's row in the log, as read. */
export interface EffectRow {
  readonly status: EffectStatus;
  readonly requestHash: string;
  readonly provider: string;
  readonly operation: string;
  /** Counts the writes of the row: a claim rests on the row being as it was read. */
  readonly revision: number;
  /** Counts the provider's idempotency keys of this effect, from 1. */
  readonly generation: number;
  /** Since when the present key may be known to the provider (ISO 8601). */
  readonly generationAt?: string | undefined;
  /** The invocation that is, or was last, at it. */
  readonly leaseOwner?: string | undefined;
  /** Epoch milliseconds. */
  readonly leaseUntil?: number | undefined;
  /** Calls made within `budget`: an execution, or a replay of it. */
  readonly tries: number;
  readonly budget?: string | undefined;
  /** The business attempt that a failure stands for. */
  readonly failedIn?: string | undefined;
  /** FAILED, but a call under the present key may have happened. */
  readonly unsettled: boolean;
  readonly reference?: string | undefined;
  readonly response?: JsonValue | undefined;
  /** Where a response lies that is too large for the row. */
  readonly responseRef?: PayloadRef | undefined;
  /** The request that was carried out, in wire form. */
  readonly request?: JsonValue | undefined;
  readonly failureKind?: 'retryable' | 'terminal' | undefined;
  readonly failureCode?: string | undefined;
  readonly failureMessage?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** Calls made so far, by all that asked. */
  readonly attempts: number;
  /** Cached rows: a lower version than asked for is void. */
  readonly cacheVersion?: number | undefined;
  /** Cached rows: void from then on (ISO 8601). */
  readonly expiresAt?: string | undefined;
}

/** What a plan's effects amount to, once their rows are read. */
export interface EffectsState {
  /** Providers whose answers came out of the cache, one entry a use. */
  readonly cached: readonly string[];
  readonly results: Readonly<Record<string, EffectResult>>;
  /** Effects that must be run before the plan can go on. */
  readonly missing: readonly WireEffect[];
  /** Set when an effect has failed and is not to be run again in this attempt. */
  readonly failure?: FailureRecord;
}

export interface JudgeEffectsInput {
  readonly effects: readonly {
    readonly request: EffectRequest;
    readonly wire: WireEffect;
    readonly row: EffectRow | undefined;
  }[];
  /** RunEffects has just run: a FAILED row is this attempt's answer, not an old one. */
  readonly ran: boolean;
  /** The execution's budget of calls: attempts that an effect has used up in it are not made again. */
  readonly budget: string;
  /** Whether it may be that no further business attempt follows one that ends like this. */
  readonly mayBeLast: (failure: FailureRecord) => boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Decides, per effect, whether its answer is there, is to be asked for, or has failed. */
export function judgeEffects(input: JudgeEffectsInput): EffectsState {
  const results: Record<string, EffectResult> = {};
  const missing: WireEffect[] = [];
  const cached: string[] = [];
  let failure: FailureRecord | undefined;
  for (const { request, wire, row } of input.effects) {
    if (row?.status === 'COMPLETED' && !isVoid(row, wire, input.now)) {
      if (row.requestHash !== wire.requestHash && wire.onRequestChange === 'fail') {
        failure ??= {
          kind: 'terminal',
          code: FAILURE_CODES.EFFECT_HASH_MISMATCH,
          message: `effect ${wire.name} has been carried out with another request`,
        };
        continue;
      }
      results[wire.name] = completed(row);
      if (wire.cache !== undefined) cached.push(wire.provider);
    } else if (row?.status === 'FAILED' && (input.ran || isSpent(request, row, input.budget))) {
      const spent = isSpent(request, row, input.budget);
      const failed = failureOf(row, wire, spent);
      if (request.fallback !== undefined && (failed.kind === 'terminal' || input.mayBeLast(failed))) {
        results[wire.name] = { response: request.fallback, degraded: true };
      } else {
        failure ??= failed;
      }
    } else {
      missing.push(wire);
    }
  }
  return failure === undefined ? { results, missing, cached } : { results, missing, cached, failure };
}

/** The effect's own attempts are used up. */
const isSpent = ({ attempts }: EffectRequest, row: EffectRow, budget: string): boolean =>
  attempts?.max !== undefined && row.budget === budget && row.tries >= attempts.max;

/** A cached answer that is too old, by version or by time, counts as none. */
export function isVoid(
  row: Pick<EffectRow, 'cacheVersion' | 'expiresAt'>,
  wire: Pick<WireEffect, 'cache'>,
  now: number,
): boolean {
  if (wire.cache === undefined) return false;
  const outdated = (row.cacheVersion ?? 0) < wire.cache.version;
  return outdated || (row.expiresAt !== undefined && Date.parse(row.expiresAt) <= now);
}

function completed(row: EffectRow): EffectResult {
  return {
    degraded: false,
    ...(row.reference === undefined ? {} : { reference: row.reference }),
    ...(row.response === undefined ? {} : { response: row.response }),
    ...(row.request === undefined ? {} : { request: fromWire(row.request) }),
  };
}

/** @param spent the effect's own attempts are used up, which ends the message's too */
function failureOf(row: EffectRow, wire: WireEffect, spent: boolean): FailureRecord {
  return {
    kind: spent ? 'terminal' : (row.failureKind ?? 'retryable'),
    code: row.failureCode ?? FAILURE_CODES.EFFECT_IN_PROGRESS,
    message: row.failureMessage ?? `effect ${wire.name} failed`,
    ...(row.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: row.retryAfterSeconds }),
  };
}
