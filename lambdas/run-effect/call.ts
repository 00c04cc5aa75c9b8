import type { Claim } from '../core/effect-log.ts';
import { nativeOf } from '../core/effect-row.ts';
import { errorName } from '../core/errors.ts';
import {
  type AnyOperation,
  type CallFailure,
  type EffectAnswer,
  type EffectCall,
  type LookupAnswer,
  providerKey,
} from '../core/provider.ts';
import type { Run, RunEffectDeps } from './run-effect.ts';

/** What recording an answer may take: no call is waited for beyond the function's end less this. */
const RECORD_RESERVE_MS = 5_000;
/** Of a short function's time, at least this share is left to the call. */
const MIN_CALL_SHARE = 0.5;

/** What came of a call. */
export type CallOutcome =
  | { readonly outcome: 'answered'; readonly answer: EffectAnswer; readonly latencyMs: number }
  | {
      readonly outcome: 'failed';
      readonly failure: CallFailure;
      /** A call under the present key may have happened. */
      readonly unsettled: boolean;
      /** Another call under the same key, or a lookup, can settle it; if not, only a person can. */
      readonly recoverable: boolean;
      readonly latencyMs?: number;
    };

/**
 * Calls the provider.
 * @param unsettled an earlier call under the claim's key may have happened. That this one did nothing (throttled,
 *   say) tells nothing of the other.
 */
export async function callProvider(
  claim: Claim,
  unsettled: boolean,
  run: Run,
  deps: RunEffectDeps,
): Promise<CallOutcome> {
  const operation = deps.operations[run.effect.operation];
  if (operation === undefined) {
    const message = `provider ${deps.provider} has no operation ${run.effect.operation}`;
    return refused('EFFECT_OPERATION_UNKNOWN', message, unsettled);
  }
  const request = await validated(operation, claim);
  if ('issues' in request) return refused('EFFECT_REQUEST_INVALID', request.issues, unsettled);

  const startedAt = deps.clock.now();
  const result = await withDeadline(operation, run, deps, (signal) =>
    operation.execute(callOf(request.value, claim, run, signal)),
  );
  const latencyMs = deps.clock.now() - startedAt;
  if ('value' in result) return { outcome: 'answered', answer: result.value, latencyMs };
  const failure = result.timedOut ? TIMED_OUT : classified(operation, result.thrown);
  return {
    outcome: 'failed',
    failure,
    unsettled: failure.done === 'unknown' || (unsettled && failure.forKey !== true),
    recoverable: operation.idempotent || operation.harmless === true || operation.lookup !== undefined,
    latencyMs,
  };
}

/**
 * Asks the provider what has become of the claim's call.
 * @returns undefined when it has not happened and will not
 */
export async function lookUp(claim: Claim, run: Run, deps: RunEffectDeps): Promise<CallOutcome | undefined> {
  const operation = deps.operations[run.effect.operation];
  const lookup = operation?.lookup?.bind(operation);
  if (operation === undefined || lookup === undefined) return unknownOutcome('EFFECT_LOOKUP_MISSING');
  const request = await validated(operation, claim);
  if ('issues' in request) return refused('EFFECT_REQUEST_INVALID', request.issues, true);
  const startedAt = deps.clock.now();
  const result = await withDeadline<LookupAnswer>(operation, run, deps, (signal) =>
    lookup(callOf(request.value, claim, run, signal)),
  );
  if (!('value' in result)) {
    return unknownOutcome(result.timedOut ? TIMED_OUT.code : classified(operation, result.thrown).code);
  }
  switch (result.value.found) {
    case 'done':
      return { outcome: 'answered', answer: result.value.answer, latencyMs: deps.clock.now() - startedAt };
    case 'notDone':
      return undefined;
    case 'unknown':
      return unknownOutcome('EFFECT_OUTCOME_UNKNOWN');
  }
}

const TIMED_OUT = {
  done: 'unknown',
  code: 'PROVIDER_TIMEOUT',
  message: 'the provider did not answer in time',
} as const satisfies CallFailure;

const unknownOutcome = (code: string): CallOutcome => ({
  outcome: 'failed',
  failure: { done: 'unknown', code, message: 'what has become of the call is not known yet' },
  unsettled: true,
  recoverable: true,
});

const refused = (code: string, message: string, unsettled: boolean): CallOutcome => ({
  outcome: 'failed',
  failure: { done: 'no', kind: 'terminal', code, message },
  unsettled,
  recoverable: true,
});

function callOf(request: unknown, claim: Claim, { effect }: Run, signal: AbortSignal): EffectCall<unknown> {
  return {
    request,
    key: providerKey(effect.key, claim.generation),
    signal,
    ...(effect.traceparent === undefined ? {} : { traceparent: effect.traceparent }),
    ...(effect.correlationId === undefined ? {} : { correlationId: effect.correlationId }),
  };
}

async function validated(
  operation: AnyOperation,
  claim: Claim,
): Promise<{ readonly value: unknown } | { readonly issues: string }> {
  const result = await operation.schema['~standard'].validate(nativeOf(claim.request));
  if (result.issues === undefined) return { value: result.value };
  // Paths only: a validator's text may quote the value.
  const paths = result.issues
    .slice(0, 10)
    .map(({ path = [] }) =>
      path.map((part) => (typeof part === 'object' ? String(part.key) : String(part))).join('.'),
    );
  return { issues: `the request is not as the operation's schema wants it: ${paths.join(', ')}` };
}

function classified(operation: AnyOperation, thrown: unknown): CallFailure {
  try {
    return operation.classify(thrown);
  } catch {
    return { done: 'unknown', code: errorName(thrown), message: 'the provider failed in an unknown way' };
  }
}

type Waited<T> = { readonly value: T } | { readonly timedOut: boolean; readonly thrown?: unknown };

/** Waits for `work` no longer than the operation and the function's remaining time allow. */
async function withDeadline<T>(
  operation: AnyOperation,
  run: Run,
  deps: RunEffectDeps,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Waited<T>> {
  const remaining = run.deadline - deps.clock.now();
  const available = Math.max(remaining - RECORD_RESERVE_MS, remaining * MIN_CALL_SHARE, 0);
  const limit = Math.min(available, (operation.timeoutSeconds ?? Number.POSITIVE_INFINITY) * 1000);
  const call = new AbortController();
  const timer = new AbortController();
  const timedOut = deps.clock.sleep(limit, timer.signal).then(
    () => {
      call.abort(new Error('timed out'));
      return { timedOut: true } as const;
    },
    () => new Promise<never>(() => {}),
  );
  try {
    const working = (async () => work(call.signal))();
    return await Promise.race([
      working.then(
        (value) => ({ value }),
        (thrown: unknown) => ({ timedOut: call.signal.aborted, thrown }),
      ),
      timedOut,
    ]);
  } finally {
    timer.abort();
  }
}
