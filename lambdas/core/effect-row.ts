import { EFFECT_STATUSES, type EffectRow } from './effects.ts';
import type { PayloadRef } from './envelope.ts';
import type { JsonValue } from './json.ts';
import { numberOf, type Row, textOf } from './ports.ts';
import { fromWire } from './wire.ts';

/** Reads a row of the effect log; undefined where there is none. */
export function toEffectRow(row: Row | undefined): EffectRow | undefined {
  const status = EFFECT_STATUSES.find((known) => known === row?.status);
  if (row === undefined || status === undefined) return undefined;
  const kind = textOf(row, 'failureKind');
  return {
    status,
    requestHash: textOf(row, 'requestHash') ?? '',
    provider: textOf(row, 'provider') ?? '',
    operation: textOf(row, 'operation') ?? '',
    attempts: numberOf(row, 'attempts') ?? 0,
    revision: numberOf(row, 'revision') ?? 0,
    generation: numberOf(row, 'generation') ?? 1,
    generationAt: textOf(row, 'generationAt'),
    leaseOwner: textOf(row, 'leaseOwner'),
    leaseUntil: numberOf(row, 'leaseUntil'),
    tries: numberOf(row, 'tries') ?? 0,
    budget: textOf(row, 'budget'),
    failedIn: textOf(row, 'failedIn'),
    unsettled: row.unsettled === true,
    reference: textOf(row, 'providerReference'),
    response: parsed(textOf(row, 'response')),
    responseRef: payloadRefOf(row.responseRef),
    request: parsed(textOf(row, 'request')),
    failureKind: kind === 'retryable' || kind === 'terminal' ? kind : undefined,
    failureCode: textOf(row, 'failureCode'),
    failureMessage: textOf(row, 'failureMessage'),
    retryAfterSeconds: numberOf(row, 'retryAfterSeconds'),
    cacheVersion: numberOf(row, 'cacheVersion'),
    expiresAt: textOf(row, 'expiresAt'),
  };
}

/**
 * Requests and responses are kept as JSON text: a provider's answer may nest deeper than an item can, and what comes
 * back must be what was put in.
 */
export const toText = (value: unknown): string | undefined =>
  value === undefined ? undefined : JSON.stringify(value);

function parsed(text: string | undefined): JsonValue | undefined {
  return text === undefined ? undefined : JSON.parse(text);
}

/** A request as a provider or a plan sees it: numbers that JSON would round are bigints again. */
export const nativeOf = (value: JsonValue | undefined): unknown =>
  value === undefined ? undefined : fromWire(value);

function payloadRefOf(value: unknown): PayloadRef | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { bucket, key, sha256 } = Object.fromEntries(Object.entries(value));
  if (typeof bucket !== 'string' || typeof key !== 'string' || typeof sha256 !== 'string') return undefined;
  return { bucket, key, sha256 };
}
