import type { WireEffect } from './decision.ts';
import { FAILURE_CODES } from './errors.ts';
import type { FailureRecord } from './execution.ts';
import type { EffectRequest, EffectResult } from './message-type.ts';

export const EFFECT_STATUSES = ['PENDING', 'COMPLETED', 'FAILED', 'IN_DOUBT'] as const;
export type EffectStatus = (typeof EFFECT_STATUSES)[number];

/** An effect's row in the log, as read. */
export interface EffectRow {
  readonly status: EffectStatus;
  readonly requestHash: string;
  readonly provider: string;
  readonly operation: string;
  readonly reference?: string | undefined;
  readonly response?: unknown | undefined;
  readonly request?: unknown | undefined;
  readonly failureKind?: 'retryable' | 'terminal' | undefined;
  readonly failureCode?: string | undefined;
  readonly failureMessage?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** Calls made so far. */
  readonly attempts: number;
  /** Cached rows: a lower version than asked for is void. */
  readonly cacheVersion?: number | undefined;
  /** Cached rows: void from then on (ISO 8601). */
  readonly expiresAt?: string | undefined;
}

/** What a plan's effects amount to, once their rows are read. */
export interface EffectsState {
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
  /** No further business attempt follows this one. */
  readonly lastAttempt: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Decides, per effect, whether its answer is there, is to be asked for, or has failed. */
export function judgeEffects(input: JudgeEffectsInput): EffectsState {
  const results: Record<string, EffectResult> = {};
  const missing: WireEffect[] = [];
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
    } else if (row?.status === 'FAILED' && input.ran) {
      if (request.fallback !== undefined && (input.lastAttempt || row.failureKind === 'terminal')) {
        results[wire.name] = { response: request.fallback, degraded: true };
      } else {
        failure ??= failureOf(row, wire);
      }
    } else {
      missing.push(wire);
    }
  }
  return failure === undefined ? { results, missing } : { results, missing, failure };
}

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
    ...(row.request === undefined ? {} : { request: row.request }),
  };
}

function failureOf(row: EffectRow, wire: WireEffect): FailureRecord {
  return {
    kind: row.failureKind ?? 'retryable',
    code: row.failureCode ?? FAILURE_CODES.EFFECT_IN_PROGRESS,
    message: row.failureMessage ?? `effect ${wire.name} failed`,
    ...(row.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: row.retryAfterSeconds }),
  };
}
