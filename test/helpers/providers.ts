import * as v from 'valibot';
import {
  type CallFailure,
  defineProvider,
  type EffectCall,
  type LookupAnswer,
} from '../../lambdas/core/provider.ts';

interface Request {
  readonly amount: number;
}

/** How the next calls go; after them, calls succeed. */
export type CallFate = 'ok' | 'refused' | 'throttled' | 'lostBefore' | 'lostAfter';

/** A provider whose ledger says what has really happened. */
export interface Ledger {
  /** Every call that reached the provider, by its idempotency key. */
  readonly calls: string[];
  /** What has happened: a key may stand here once only. */
  readonly done: string[];
  /** Virtual times of the calls, in epoch milliseconds. */
  readonly times: number[];
  readonly fates: CallFate[];
  /** Fate of every call while set. */
  always?: CallFate | undefined;
}

export const createLedger = (fates: readonly CallFate[] = []): Ledger => ({
  calls: [],
  done: [],
  times: [],
  fates: [...fates],
});

class ProviderError extends Error {
  readonly fate: CallFate;

  constructor(fate: CallFate) {
    super('the provider failed');
    this.fate = fate;
  }
}

/** Defines a provider of one of the three kinds over a ledger. */
export function ledgerProvider(
  name: string,
  kind: 'idempotent' | 'lookup' | 'neither' | 'harmless',
  ledger: Ledger,
  now: () => number = () => 0,
) {
  const execute = async (call: EffectCall<Request>) => {
    ledger.calls.push(call.key);
    ledger.times.push(now());
    const fate = ledger.always ?? ledger.fates.shift() ?? 'ok';
    if (fate === 'refused' || fate === 'throttled' || fate === 'lostBefore') throw new ProviderError(fate);
    if (kind !== 'idempotent' || !ledger.done.includes(call.key)) ledger.done.push(call.key);
    if (fate === 'lostAfter') throw new ProviderError(fate);
    return { reference: `ref-${call.key}`, response: { amount: call.request.amount } };
  };
  const classify = (error: unknown): CallFailure => {
    const fate = error instanceof ProviderError ? error.fate : 'lostAfter';
    if (fate === 'refused') return { done: 'no', kind: 'terminal', code: 'REFUSED' };
    if (fate === 'throttled') return { done: 'no', kind: 'retryable', code: 'THROTTLED' };
    return { done: 'unknown', code: 'NO_ANSWER' };
  };
  const lookup = async (call: EffectCall<Request>): Promise<LookupAnswer> =>
    ledger.done.includes(call.key)
      ? { found: 'done', answer: { reference: `ref-${call.key}` } }
      : { found: 'notDone' };
  return defineProvider({
    name,
    operations: {
      charge: {
        schema: v.object({ amount: v.number() }),
        idempotent: kind === 'idempotent',
        ...(kind === 'harmless' ? { harmless: true } : {}),
        ...(kind === 'lookup' ? { lookup } : {}),
        execute,
        classify,
      },
    },
  });
}
