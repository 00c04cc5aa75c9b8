import { fullJitterSeconds } from '../core/backoff.ts';
import { RoutedError } from '../core/commit-errors.ts';
import { attemptOf } from '../core/effect-claim.ts';
import type { Claim, LogWrite, RecordedAnswer } from '../core/effect-log.ts';
import { toText } from '../core/effect-row.ts';
import { FAILURE_CODE_PATTERN } from '../core/errors.ts';
import type { JsonValue } from '../core/json.ts';
import type { CallFailure, EffectAnswer } from '../core/provider.ts';
import { asideFolder } from '../core/seal.ts';
import type { CallOutcome } from './call.ts';
import { fieldsOf, type Run, type RunEffectDeps, type RunEffectResult, reportDoubt } from './run-effect.ts';

/** A response above this lies in the payload bucket. */
const MAX_RESPONSE_BYTES = 64 * 1024;
const MAX_REFERENCE = 300;
const MAX_MESSAGE_BYTES = 2_048;

/** Writes are repeated while the function lives: an answer in hand is not thrown away for a throttled write. */
const MAX_WRITES = 6;
const WRITE_BACKOFF = { baseSeconds: 0.1, capSeconds: 2 } as const;
/** How calls are spread when the provider asks for patience and the effect has no back-off of its own. */
const SPREAD = { baseSeconds: 2, capSeconds: 60 } as const;

/** Records what came of a call, and says what the state machine is to do next. */
export async function recordOutcome(
  outcome: CallOutcome,
  claim: Claim,
  run: Run,
  deps: RunEffectDeps,
): Promise<RunEffectResult> {
  report(outcome, run, deps);
  if (outcome.outcome === 'answered') return recordAnswer(outcome.answer, claim, run, deps);
  return recordFailure(outcome, claim, run, deps);
}

async function recordAnswer(
  answer: EffectAnswer,
  claim: Claim,
  run: Run,
  deps: RunEffectDeps,
): Promise<RunEffectResult> {
  const { effect, owner } = run;
  const recorded = await answerOf(answer, run, deps);
  const write = await persist(() => deps.log.complete(effect, claim, owner, recorded), run, deps);
  if (!write.written && !isOwnAnswer(write, recorded)) {
    await keepLate('COMPLETED', recorded.reference, run, deps);
    if (write.row?.status !== 'COMPLETED') throw new RoutedError('EffectInProgress');
  }
  return { key: effect.key, status: 'COMPLETED' };
}

/** A write whose answer was lost finds its own work. */
const isOwnAnswer = (write: LogWrite, recorded: RecordedAnswer): boolean =>
  !write.written && write.row?.status === 'COMPLETED' && write.row.reference === recorded.reference;

async function recordFailure(
  outcome: Extract<CallOutcome, { outcome: 'failed' }>,
  claim: Claim,
  run: Run,
  deps: RunEffectDeps,
): Promise<RunEffectResult> {
  const { effect, owner } = run;
  const { failure, unsettled, recoverable } = outcome;
  const code = codeOf(failure);
  const message = cut(failure.message ?? `effect ${effect.name} failed`);
  const at = new Date(deps.clock.now()).toISOString();
  const retryAfterSeconds = spread(failure, claim, run, deps);
  const write = await persist(
    () =>
      unsettled && !recoverable
        ? deps.log.doubt(effect, { owner }, { code, message, at })
        : deps.log.fail(effect, owner, {
            kind: failure.done === 'no' ? failure.kind : 'retryable',
            code,
            message,
            unsettled,
            failedIn: attemptOf(effect, run.executionName),
            at,
            ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
          }),
    run,
    deps,
  );
  if (write.written) {
    if (!unsettled || recoverable) return { key: effect.key, status: 'FAILED' };
    reportDoubt(run, deps);
    throw new RoutedError('EffectInDoubt');
  }
  // The lease was lost meanwhile: what the row says counts, and this result is kept beside it.
  await keepLate(code, undefined, run, deps);
  switch (write.row?.status) {
    case 'COMPLETED':
    case 'FAILED':
      return { key: effect.key, status: write.row.status };
    case 'IN_DOUBT':
      throw new RoutedError('EffectInDoubt');
    default:
      throw new RoutedError('EffectInProgress');
  }
}

/**
 * Seconds that the next attempt waits at least: what the provider asked for, with jitter, so that a hundred callers
 * that were throttled together don't come back together.
 */
function spread(failure: CallFailure, claim: Claim, run: Run, deps: RunEffectDeps): number | undefined {
  const { retry } = run.effect;
  if (retry === undefined && failure.retryAfterSeconds === undefined) return undefined;
  return fullJitterSeconds(claim.tries, deps.random, {
    baseSeconds: retry?.baseSeconds ?? SPREAD.baseSeconds,
    capSeconds: Math.max(retry?.capSeconds ?? SPREAD.capSeconds, retry?.baseSeconds ?? 0),
    floorSeconds: failure.retryAfterSeconds ?? 0,
  });
}

async function answerOf(answer: EffectAnswer, run: Run, deps: RunEffectDeps): Promise<RecordedAnswer> {
  const at = new Date(deps.clock.now()).toISOString();
  const reference = answer.reference?.toWellFormed().slice(0, MAX_REFERENCE);
  const base = { at, ...(reference === undefined ? {} : { reference }) };
  const text = toText(answer.response);
  if (text === undefined) return base;
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_RESPONSE_BYTES) {
    const response: JsonValue = JSON.parse(text);
    return { ...base, response };
  }
  const { cache, idempotencyKey } = run.effect;
  const folder = cache === undefined ? asideFolder(idempotencyKey) : undefined;
  return { ...base, responseRef: await persist(() => deps.offload(bytes, folder), run, deps) };
}

async function keepLate(
  outcome: string,
  reference: string | undefined,
  run: Run,
  deps: RunEffectDeps,
): Promise<void> {
  const at = new Date(deps.clock.now()).toISOString();
  deps.telemetry.warn('effect_result_late', { ...fieldsOf(run), result: outcome });
  const late = { owner: run.owner, outcome, at, ...(reference === undefined ? {} : { reference }) };
  await persist(() => deps.log.keepLate(run.effect, late), run, deps);
}

/** The provider's code where it is one. A provider may give any text, which must not get into logs and rows. */
const codeOf = ({ code }: { readonly code: string }): string =>
  FAILURE_CODE_PATTERN.test(code) ? code : 'PROVIDER_FAILED';

function report(outcome: CallOutcome, run: Run, deps: RunEffectDeps): void {
  const { provider, telemetry } = deps;
  const result =
    outcome.outcome === 'answered' ? 'answered' : outcome.failure.done === 'unknown' ? 'unknown' : 'notDone';
  if (outcome.latencyMs !== undefined) {
    telemetry.metric('EffectCalls', 1, { provider, result });
    telemetry.metric('EffectLatency', outcome.latencyMs, { provider, source: 'call' });
  }
  telemetry.info('effect_called', {
    ...fieldsOf(run),
    result,
    processingMs: outcome.latencyMs,
    ...(outcome.outcome === 'failed' ? { code: codeOf(outcome.failure) } : {}),
  });
}

/**
 * Repeats a write that was not answered, while there is time. Every write of the log is conditional, so that a
 * repetition finds what the first one did.
 *
 * @throws what the last try threw
 */
export async function persist<T>(write: () => Promise<T>, run: Run, deps: RunEffectDeps): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await write();
    } catch (error) {
      if (error instanceof RoutedError && error.name !== 'Throttled') throw error;
      const delay =
        deps.random() * Math.min(WRITE_BACKOFF.capSeconds, WRITE_BACKOFF.baseSeconds * 2 ** round) * 1000;
      if (round === MAX_WRITES || deps.clock.now() + delay >= run.deadline) throw error;
      await deps.clock.sleep(delay);
    }
  }
}

/** At most {@link MAX_MESSAGE_BYTES} of UTF-8, cut between characters. */
function cut(message: string): string {
  const bytes = Buffer.from(message.toWellFormed());
  if (bytes.length <= MAX_MESSAGE_BYTES) return bytes.toString();
  return new TextDecoder().decode(bytes.subarray(0, MAX_MESSAGE_BYTES)).replace(/\uFFFD+$/, '');
}
