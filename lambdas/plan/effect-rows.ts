import type { WireEffect } from '../core/decision.ts';
import { EFFECT_STATUSES, type EffectRow } from '../core/effects.ts';
import { numberOf, type Row, type RowReader, textOf } from '../core/ports.ts';
import { effectRowKey } from '../core/table.ts';

/** The log rows of effects, in their order. */
export async function readEffects(
  effects: readonly WireEffect[],
  rows: RowReader,
): Promise<readonly (EffectRow | undefined)[]> {
  const found = await rows.read(effects.map(({ key }) => effectRowKey(key)));
  return found.map(toEffectRow);
}

/** Reads a log row; undefined where there is none. */
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
    reference: textOf(row, 'providerReference'),
    response: row.response,
    request: row.request,
    failureKind: kind === 'retryable' || kind === 'terminal' ? kind : undefined,
    failureCode: textOf(row, 'failureCode'),
    failureMessage: textOf(row, 'failureMessage'),
    retryAfterSeconds: numberOf(row, 'retryAfterSeconds'),
    cacheVersion: numberOf(row, 'cacheVersion'),
    expiresAt: textOf(row, 'expiresAt'),
  };
}
