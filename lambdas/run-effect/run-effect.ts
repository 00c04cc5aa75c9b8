import type { Clock, NewId, Random } from '../core/clock.ts';
import { RoutedError } from '../core/commit-errors.ts';
import type { WireEffect } from '../core/decision.ts';
import { attemptOf, budgetOf, judgeClaim, leaseSeconds } from '../core/effect-claim.ts';
import type { Claim, EffectLog, Lease, LogWrite } from '../core/effect-log.ts';
import type { EffectRow, EffectStatus } from '../core/effects.ts';
import type { PayloadRef } from '../core/envelope.ts';
import type { Operations } from '../core/provider.ts';
import type { Telemetry } from '../core/telemetry.ts';
import { type CallOutcome, callProvider, lookUp } from './call.ts';
import { persist, recordOutcome } from './record.ts';

/** Claims that lost a race look again this often; who still loses then waits for the winner. */
const MAX_CLAIM_ROUNDS = 4;

export interface RunEffectDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** A fresh owner for every invocation. */
  readonly newId: NewId;
  readonly provider: string;
  readonly operations: Operations;
  readonly log: EffectLog;
  readonly telemetry: Telemetry;
  /** The function's own time-out: the lease is this plus a clock margin. */
  readonly functionTimeoutSeconds: number;
  /** Puts a response aside that is too large for a row; in its key's folder, unless it is shared. */
  readonly offload: (bytes: Uint8Array, folder?: string) => Promise<PayloadRef>;
}

export interface RunEffectRequest {
  readonly effect: WireEffect;
  readonly execution: { readonly Id: string; readonly Name: string };
}

/** Key and status only: what the provider said is in the effect log, where Plan reads it. */
export interface RunEffectResult {
  readonly key: string;
  readonly status: Extract<EffectStatus, 'COMPLETED' | 'FAILED'>;
}

/** What one invocation works with. */
export interface Run {
  readonly effect: WireEffect;
  readonly executionName: string;
  readonly owner: string;
  /** Epoch milliseconds at which the function is ended. */
  readonly deadline: number;
}

interface Held {
  readonly claim: Claim;
  /** An earlier call under this key may have happened. */
  readonly unsettled: boolean;
  readonly lookup: boolean;
}

interface Attempt {
  readonly write: (lease: Lease) => Promise<LogWrite>;
  readonly held: Held;
}

/**
 * Carries out one effect: claims it in the log, calls the provider, records what it said. Never calls before the row
 * is written. Failures that the provider's classifier knows are recorded, not thrown.
 *
 * @param remainingMs what is left of the function's time. @default all of it
 * @throws RoutedError `EffectInProgress`, `EffectInDoubt`, `Throttled`
 */
export async function runEffect(
  request: RunEffectRequest,
  deps: RunEffectDeps,
  remainingMs = deps.functionTimeoutSeconds * 1000,
): Promise<RunEffectResult> {
  const run: Run = {
    effect: request.effect,
    executionName: request.execution.Name,
    owner: deps.newId(),
    deadline: deps.clock.now() + remainingMs,
  };
  const claimed = await claimEffect(run, deps);
  if ('status' in claimed) return claimed;

  let { claim, unsettled } = claimed;
  let outcome: CallOutcome | undefined;
  if (claimed.lookup) {
    outcome = await withHeartbeat(run, deps, () => lookUp(claim, run, deps));
    if (outcome === undefined) {
      claim = await settle(claim, run, deps);
      unsettled = false;
    }
  }
  outcome ??= await withHeartbeat(run, deps, () => callProvider(claim, unsettled, run, deps));
  return recordOutcome(outcome, claim, run, deps);
}

async function claimEffect(run: Run, deps: RunEffectDeps): Promise<Held | RunEffectResult> {
  let attempt = opening(run, 1, deps);
  for (let round = 0; round < MAX_CLAIM_ROUNDS; round += 1) {
    const { write, held } = attempt;
    const outcome = await persist(() => write(leaseOf(run, deps)), run, deps);
    // A write that was made although its answer was lost is this invocation's own claim.
    if (outcome.written || (outcome.row?.status === 'PENDING' && outcome.row.leaseOwner === run.owner)) {
      return held;
    }
    const next = await nextAttempt(outcome.row, run, deps);
    if (next === undefined) continue;
    if ('status' in next) return next;
    attempt = next;
  }
  throw new RoutedError('EffectInProgress');
}

function opening(run: Run, tries: number, deps: RunEffectDeps): Attempt {
  const { effect } = run;
  const { requestHash, request } = effect;
  return {
    write: (lease) => deps.log.open(effect, lease),
    held: { claim: { generation: 1, requestHash, request, tries }, unsettled: false, lookup: false },
  };
}

/** What to do about the row that refused a claim; undefined to try the same again. */
async function nextAttempt(
  row: EffectRow | undefined,
  run: Run,
  deps: RunEffectDeps,
): Promise<Attempt | RunEffectResult | undefined> {
  const { effect, executionName } = run;
  const { log } = deps;
  if (row === undefined) return opening(run, 1, deps);
  const tries = row.budget === budgetOf(effect, executionName) ? row.tries + 1 : 1;
  const operation = deps.operations[effect.operation];
  const attempt = attemptOf(effect, executionName);
  const decision = judgeClaim({ row, effect, operation, attempt, now: deps.clock.now() });
  switch (decision.action) {
    case 'completed':
      reportStored(run, deps);
      return { key: effect.key, status: 'COMPLETED' };
    case 'failed':
      return { key: effect.key, status: 'FAILED' };
    case 'inProgress':
      throw new RoutedError('EffectInProgress');
    case 'inDoubt':
      // Told again at every look, so that the alarm comes back while nobody has said what happened.
      reportDoubt(run, deps);
      throw new RoutedError('EffectInDoubt');
    case 'doubt':
      return doubtStolen(row, run, deps);
    case 'lookup': {
      const { generation, requestHash, request = effect.request } = row;
      return {
        write: (lease) => log.takeForLookup(effect, row, lease),
        held: { claim: { generation, requestHash, request, tries }, unsettled: true, lookup: true },
      };
    }
    case 'call': {
      const { generation, unsettled, stored } = decision;
      const asked =
        stored && row.request !== undefined ? { requestHash: row.requestHash, request: row.request } : effect;
      const claim: Claim = { generation, requestHash: asked.requestHash, request: asked.request, tries };
      return {
        write: (lease) => log.take(effect, claim, row, lease),
        held: { claim, unsettled, lookup: false },
      };
    }
  }
}

/** Marks a dead claim as in doubt and sends the execution to wait for a person; who lost the race looks again. */
async function doubtStolen(row: EffectRow, run: Run, deps: RunEffectDeps): Promise<undefined> {
  const doubt = {
    code: 'EFFECT_CLAIM_LOST',
    message: 'a call may have been made whose answer nobody recorded, and the provider cannot be asked',
    at: new Date(deps.clock.now()).toISOString(),
  };
  const outcome = await persist(() => deps.log.doubt(run.effect, { row }, doubt), run, deps);
  if (!outcome.written) return undefined;
  reportDoubt(run, deps);
  throw new RoutedError('EffectInDoubt');
}

export function reportDoubt(run: Run, deps: RunEffectDeps): void {
  deps.telemetry.metric('EffectsInDoubt', 1, { provider: deps.provider });
  deps.telemetry.warn('effect_in_doubt', fieldsOf(run));
}

function reportStored(run: Run, deps: RunEffectDeps): void {
  if (run.effect.cache !== undefined) {
    deps.telemetry.metric('EffectCacheHits', 1, { provider: deps.provider });
  }
  deps.telemetry.info('effect_found', { ...fieldsOf(run), result: 'COMPLETED' });
}

/** Fields of every line about an effect. Neither request nor response. */
export const fieldsOf = ({ effect, executionName }: Run) => ({
  executionName,
  provider: effect.provider,
  operation: effect.operation,
  effectName: effect.name,
  correlationId: effect.correlationId,
  traceparent: effect.traceparent,
});

/**
 * Lookup said that the earlier call has not happened and will not. The same request goes out under the same key;
 * another one takes a key of its own, and the row says so before the call.
 */
async function settle(claim: Claim, run: Run, deps: RunEffectDeps): Promise<Claim> {
  const { effect } = run;
  const changed = claim.requestHash !== effect.requestHash;
  const next: Claim = {
    generation: changed ? claim.generation + 1 : claim.generation,
    requestHash: effect.requestHash,
    request: effect.request,
    tries: claim.tries,
  };
  const outcome = await persist(() => deps.log.renew(effect, next, leaseOf(run, deps)), run, deps);
  if (!outcome.written) throw new RoutedError('EffectInProgress');
  return next;
}

function leaseOf(run: Run, deps: RunEffectDeps): Lease {
  const now = deps.clock.now();
  return {
    owner: run.owner,
    until: now + leaseSeconds(deps.functionTimeoutSeconds) * 1000,
    at: new Date(now).toISOString(),
    executionName: run.executionName,
    budget: budgetOf(run.effect, run.executionName),
  };
}

/**
 * Extends the lease while `work` goes on. A lease that is lost stays lost: the call can't be taken back, and its
 * answer is recorded, or kept as evidence, by the log's own rules.
 */
async function withHeartbeat<T>(run: Run, deps: RunEffectDeps, work: () => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const interval = (leaseSeconds(deps.functionTimeoutSeconds) * 1000) / 3;
  const beat = async () => {
    for (;;) {
      await deps.clock.sleep(interval, stop.signal);
      const until = deps.clock.now() + leaseSeconds(deps.functionTimeoutSeconds) * 1000;
      // A beat that fails is made up for by the next one: the lease holds for three.
      await deps.log.extend(run.effect, run.owner, until).catch(() => undefined);
    }
  };
  const beating = beat().catch(() => undefined);
  try {
    return await work();
  } finally {
    stop.abort();
    await beating;
  }
}
