import type { WireEffect } from './decision.ts';
import { type EffectRow, isVoid } from './effects.ts';
import type { AnyOperation } from './provider.ts';

/** How far apart the clocks of two functions may be. */
const CLOCK_MARGIN_SECONDS = 30;

/** A living caller never loses its lease: it ends before the function does, whatever clock one looks at. */
export const leaseSeconds = (functionTimeoutSeconds: number): number =>
  functionTimeoutSeconds + CLOCK_MARGIN_SECONDS;

/** What to do about a row that is there already. */
export type ClaimDecision =
  /** The answer is there. */
  | { readonly action: 'completed' }
  /** It has failed within this very attempt, and is not called again before a back-off. */
  | { readonly action: 'failed' }
  /** Somebody is at it. */
  | { readonly action: 'inProgress' }
  /** A person has to say what happened. */
  | { readonly action: 'inDoubt' }
  /** It may have been called, nobody can tell, and it must not be called again: from now on in doubt. */
  | { readonly action: 'doubt' }
  /** Take the lease, ask the provider what has become of the earlier call. */
  | { readonly action: 'lookup' }
  /**
   * Take the lease and call.
   * - `unsettled`: an earlier call under this key may have happened
   * - `stored`: with the request that is in the row
   */
  | {
      readonly action: 'call';
      readonly generation: number;
      readonly unsettled: boolean;
      readonly stored: boolean;
    };

export interface ClaimInput {
  readonly row: EffectRow;
  readonly effect: WireEffect;
  /** Undefined when the provider has no such operation (any more). */
  readonly operation:
    | Pick<AnyOperation, 'idempotent' | 'idempotencyWindowSeconds' | 'harmless' | 'lookup'>
    | undefined;
  /** The business attempt that asks, see {@link attemptOf}. */
  readonly attempt: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The budget of calls: fresh for every execution and every replay of it. */
export const budgetOf = (effect: Pick<WireEffect, 'redrives'>, executionName: string): string =>
  `${executionName}#${effect.redrives ?? 0}`;

/** The business attempt that an effect is asked for in. */
export const attemptOf = (effect: WireEffect, executionName: string): string =>
  `${budgetOf(effect, executionName)}#${effect.attempt ?? 0}`;

export function judgeClaim(input: ClaimInput): ClaimDecision {
  const { row, effect, attempt, now } = input;
  switch (row.status) {
    case 'COMPLETED':
      return isVoid(row, effect, now) ? nextGeneration(row) : { action: 'completed' };
    case 'IN_DOUBT':
      return { action: 'inDoubt' };
    case 'PENDING':
      return (row.leaseUntil ?? 0) > now ? { action: 'inProgress' } : maybeCalled(input);
    case 'FAILED':
      if (standsFor(row.failedIn, attempt)) return { action: 'failed' };
      return row.unsettled ? maybeCalled(input) : nextGeneration(row);
  }
}

/** Nothing has happened under the row's key, and nothing will: a new key, which no stored refusal is bound to. */
const nextGeneration = (row: EffectRow) => ({
  action: 'call' as const,
  generation: row.generation + 1,
  unsettled: false,
  stored: false,
});

/** Somebody took the lease and left no answer: the call may have been made. */
function maybeCalled({ row, effect, operation, now }: ClaimInput): ClaimDecision {
  if (operation?.harmless) return nextGeneration(row);
  const sameRequest = row.requestHash === effect.requestHash;
  if (operation?.idempotent && remembersKey(row, operation, now)) {
    // Under one key there is one request: another one would be refused, or answered as the first.
    if (sameRequest || (effect.onRequestChange === 'keep' && row.request !== undefined)) {
      return { action: 'call', generation: row.generation, unsettled: true, stored: !sameRequest };
    }
  }
  return operation?.lookup === undefined ? { action: 'doubt' } : { action: 'lookup' };
}

function remembersKey(
  row: EffectRow,
  operation: Pick<AnyOperation, 'idempotencyWindowSeconds'>,
  now: number,
): boolean {
  const window = operation.idempotencyWindowSeconds;
  if (window === undefined) return true;
  const since = Date.parse(row.generationAt ?? '');
  return since + (window - CLOCK_MARGIN_SECONDS) * 1000 > now;
}

/** A failure stands for one attempt; a person's verdict, for every attempt of the budget. */
const standsFor = (failedIn: string | undefined, attempt: string): boolean =>
  failedIn !== undefined && (failedIn === attempt || attempt.startsWith(`${failedIn}#`));
