import type { Clock } from '../core/clock.ts';
import {
  type AggregateChange,
  type Decision,
  type FailureDecision,
  PLAN_VERSION,
  type VersionGuard,
  type WireEffect,
  type WorkIdentity,
} from '../core/decision.ts';
import { budgetOf } from '../core/effect-claim.ts';
import { type EffectsState, judgeEffects } from '../core/effects.ts';
import type { Envelope } from '../core/envelope.ts';
import { FAILURE_CODES, TerminalFailure } from '../core/errors.ts';
import {
  type AttemptPolicy,
  type ExecutionContext,
  type ExecutionInput,
  type FailureRecord,
  FRESH_PROGRESS,
  type Progress,
} from '../core/execution.ts';
import { type MessageRegistry, streamOf } from '../core/manifest.ts';
import type { AnyMessageDefinition, Plan } from '../core/message-type.ts';
import { checkEffects, checkLimits, checkPlan, checkStateSize } from '../core/plan-checks.ts';
import { mayBeLast } from '../core/policy.ts';
import {
  type DomainReader,
  numberOf,
  type PayloadReader,
  type Row,
  type RowReader,
  textOf,
} from '../core/ports.ts';
import { aggregateKey, type ItemKey, inboxKey, waiterKey } from '../core/table.ts';
import { domainAttributes, domainChange, domainView } from './domain.ts';
import { readEffects } from './effect-rows.ts';
import { failureRecordOf } from './failure-record.ts';
import { resolvePayload } from './payload.ts';
import { openEnvelope, type PutAside, sealDecision } from './sealed.ts';
import { runTeamCode } from './team-code.ts';
import { takeTurn } from './turn.ts';
import { checkOf, viewOf } from './views.ts';

/** Rounds in which a plan may ask for further effects that turn out to be there already. */
const MAX_EFFECT_ROUNDS = 10;
/** Step Functions carries 256 KiB; the rest is for the execution's name and ARN beside the decision. */
const MAX_DECISION_BYTES = 262_144 - 4_096;
const DEFAULT_GAP_SECONDS = 24 * 60 * 60;
/** A waiter row outlives its park by a day: the waker deletes it, TTL is for what the waker never saw. */
const WAITER_TTL_SECONDS = 24 * 60 * 60;

export interface PlanDeps {
  readonly clock: Clock;
  readonly registry: MessageRegistry;
  readonly rows: RowReader;
  readonly payloads: PayloadReader;
  /** Names of the deployed effect providers. */
  readonly providers: ReadonlySet<string>;
  readonly domains: DomainReader;
  readonly putAside: PutAside;
  /** Name of the deployed worker, part of the inbox key and the producer of its events. */
  readonly worker: string;
}

export interface PlanRequest {
  readonly execution: ExecutionContext;
  readonly progress?: Partial<Progress>;
}

interface Work {
  readonly envelope: Envelope;
  readonly identity: WorkIdentity;
  readonly progress: Progress;
  readonly policy: AttemptPolicy;
  readonly redrives: number;
  /** See {@link budgetOf}. */
  readonly budget: string;
  /** The handler's `now`. */
  readonly now: Date;
  /** This function's own time. */
  readonly plannedAt: string;
}

/**
 * Decides what is to happen with a message: reads its rows, runs the pure handler, and returns the decision as data.
 * Failures of the handler are decisions too. What it throws are faults of the function and its surroundings.
 */
export async function plan(request: PlanRequest, deps: PlanDeps): Promise<Decision> {
  const decision = await judge(request, deps);
  return request.execution.Input.sealed === undefined ? decision : sealDecision(decision, deps.putAside);
}

async function judge(request: PlanRequest, deps: PlanDeps): Promise<Decision> {
  const { Input: input } = request.execution;
  const { envelope, failure } = await openEnvelope(input, deps.payloads);
  const [inbox, aggregate] = await deps.rows.read([
    inboxKey(input.envelope.idempotencyKey, deps.worker),
    aggregateKey(envelope.aggregateType, envelope.aggregateId),
  ]);
  const progress: Progress = { ...FRESH_PROGRESS, ...request.progress };
  const work: Work = {
    envelope,
    identity: identityOf(input.envelope, input.requestHash),
    progress,
    policy: input.policy,
    redrives: request.execution.RedriveCount,
    budget: budgetOf({ redrives: request.execution.RedriveCount }, request.execution.Name),
    now: new Date(request.execution.RedriveTime ?? request.execution.StartTime),
    plannedAt: new Date(deps.clock.now()).toISOString(),
  };

  const storedHash = textOf(inbox, 'requestHash');
  if (storedHash !== undefined && storedHash !== input.requestHash) {
    return failureDecision(work, 'HashMismatch', {
      kind: 'terminal',
      code: FAILURE_CODES.IDEMPOTENCY_HASH_MISMATCH,
      message: `the idempotency key belongs to a request with hash ${storedHash}; this one has ${input.requestHash}`,
    });
  }
  if (textOf(inbox, 'forgottenAt') !== undefined && textOf(inbox, 'status') !== 'COMPLETED') {
    // As with a mismatch, the row is not touched: doing the work would bring back what was erased.
    return failureDecision(work, 'HashMismatch', {
      kind: 'terminal',
      code: FAILURE_CODES.FORGOTTEN,
      message: 'the message was forgotten: send the work under a new key',
    });
  }
  if (textOf(inbox, 'status') === 'COMPLETED') return { ...base(work), decision: 'AlreadyCompleted' };
  if (progress.exhausted !== undefined) return failureDecision(work, 'Exhausted', progress.exhausted);

  const { notBefore } = input.policy;
  if (notBefore !== undefined && !progress.deferred && Date.parse(notBefore) > deps.clock.now()) {
    return { ...base(work), decision: 'NotBefore', notBefore };
  }
  try {
    if (failure !== undefined) throw failure;
    return await decide(work, aggregate, request, deps);
  } catch (thrown) {
    return failureOf(work, failureRecordOf(thrown));
  }
}

async function decide(
  work: Work,
  aggregate: Row | undefined,
  request: PlanRequest,
  deps: PlanDeps,
): Promise<Decision> {
  const { Input: input } = request.execution;
  const { envelope } = work;
  const definition = deps.registry.get(envelope.messageType);
  if (definition === undefined) {
    throw new TerminalFailure(
      FAILURE_CODES.UNKNOWN_MESSAGE_TYPE,
      `${envelope.messageType} is not deployed in this worker`,
    );
  }
  const stream = streamOf(definition);
  const incoming = definition.ordering === 'arrival' ? input.arrival : envelope.aggregateVersion;
  const turn = await takeTurn(
    {
      type: { ordering: definition.ordering, stream },
      aggregateType: envelope.aggregateType,
      aggregateId: envelope.aggregateId,
      idempotencyKey: work.identity.idempotencyKey,
      incoming,
      aggregate,
      waiting: waitingKey(input),
      progress: work.progress,
      gapTimeoutSeconds: definition.gapTimeoutSeconds ?? DEFAULT_GAP_SECONDS,
      now: deps.clock.now(),
    },
    deps.rows,
  );
  switch (turn.turn) {
    case 'superseded':
      return { ...base(work), decision: 'Commit', outcome: 'SUPERSEDED', writes: [], checks: [], events: [] };
    case 'conflict':
      throw new TerminalFailure(
        FAILURE_CODES.VERSION_CONFLICT,
        `version ${incoming} of this aggregate came under another idempotency key`,
      );
    case 'gapTimedOut':
      throw new TerminalFailure(
        FAILURE_CODES.ORDERING_GAP,
        `version ${turn.missing} of this aggregate has not been received within the gap time-out`,
      );
    case 'park': {
      const { gapSince: _, ...progress } = work.progress;
      const key = waiterKey(waitingKey(input), stream, incoming ?? 0, request.execution.Name);
      return {
        ...base(work),
        progress: turn.gapSince === undefined ? progress : { ...progress, gapSince: turn.gapSince },
        decision: 'OutOfOrder',
        park: {
          key,
          stream,
          version: incoming ?? 0,
          timeoutSeconds: turn.timeoutSeconds,
          ttl: Math.floor(deps.clock.now() / 1000) + turn.timeoutSeconds + WAITER_TTL_SECONDS,
        },
      };
    }
    case 'apply':
      return runHandler(work, input, definition, turn.guard, aggregate, deps);
  }
}

/** Where the aggregate's streams wait. A sealed execution's envelope has the digest of the id, and so has this key. */
const waitingKey = ({ envelope }: ExecutionInput): ItemKey =>
  aggregateKey(envelope.aggregateType, envelope.aggregateId);

async function runHandler(
  work: Work,
  input: ExecutionInput,
  definition: AnyMessageDefinition,
  guard: VersionGuard | undefined,
  aggregate: Row | undefined,
  deps: PlanDeps,
): Promise<Decision> {
  const { envelope } = work;
  const payload = await resolvePayload({ ...input, envelope }, definition, deps.payloads);
  const keys = await runTeamCode(() => definition.reads?.({ envelope, payload }) ?? []);
  const reads = keys.length === 0 ? [] : await deps.rows.read(keys);
  const domain = await deps.domains.find(envelope.aggregateType, envelope.aggregateId);
  const stored = viewOf(aggregate, streamOf(definition));
  const view = domain === undefined ? stored : domainView(domain, stored?.version ?? 0);
  const key = aggregateKey(envelope.aggregateType, envelope.aggregateId);

  let effects: EffectsState = { results: {}, missing: [], cached: [] };
  for (let round = 0; round < MAX_EFFECT_ROUNDS; round += 1) {
    const { results } = effects;
    // In a box, so that a promise is seen as one and refused, not awaited.
    const boxed = await runTeamCode(() => ({
      plan: definition.plan({ envelope, payload, aggregate: view, effects: results, reads, now: work.now }),
    }));
    const plan = checkShape(boxed.plan);
    const wanted = plan.effects ?? [];
    const wire = checkEffects(wanted, input.envelope);
    if (wire.some(({ name }) => effects.results[name] === undefined)) {
      checkProviders(wire, deps);
      effects = await settleEffects(plan, wire, work, deps);
      if (effects.failure !== undefined) return failureOf(work, effects.failure);
      if (effects.missing.length > 0) {
        return sized({
          ...base(work),
          decision: 'EffectsRequired',
          effects: effects.missing.map((effect) => ({
            ...effect,
            attempt: work.progress.attempts,
            redrives: work.redrives,
          })),
          parallel: plan.parallel ?? false,
        });
      }
      continue;
    }
    const parts = checkPlan(plan, {
      envelope,
      producer: deps.worker,
      occurredAt: work.now.toISOString(),
      ...(domain === undefined ? {} : { reserved: domainAttributes(domain) }),
    });
    const change: AggregateChange = {
      key,
      revision: numberOf(aggregate, 'revision') ?? null,
      ...(domain === undefined
        ? { set: parts.set, remove: parts.remove }
        : { set: {}, remove: [], domain: domainChange(domain, parts) }),
      ...(guard === undefined ? {} : { version: guard }),
      ...(input.sealed === true && guard !== undefined && guard.ordering !== 'latest'
        ? { waiting: waitingKey(input) }
        : {}),
    };
    const checks = keys.map((readKey, index) => checkOf(readKey, reads[index]));
    checkLimits({ aggregate: change, writes: parts.writes, checks, events: parts.events });
    return sized({
      ...base(work),
      decision: 'Commit',
      outcome: 'APPLIED',
      aggregate: change,
      writes: parts.writes,
      checks,
      events: parts.events,
      ...(parts.resultRef === undefined ? {} : { resultRef: parts.resultRef }),
      ...cacheHits(effects, work.progress),
    });
  }
  throw new TerminalFailure(
    FAILURE_CODES.PLAN_INVALID,
    `effects: a plan that asks for new effects ${MAX_EFFECT_ROUNDS} times in a row does not end`,
  );
}

/** A use of the cache counts once: where the effect was asked for, RunEffect has counted it; later rounds are no use. */
function cacheHits(
  { cached }: EffectsState,
  { effectsRan, rounds, attempts }: Progress,
): { readonly cacheHits?: readonly string[] } {
  return cached.length > 0 && !effectsRan && rounds + attempts === 0 ? { cacheHits: cached } : {};
}

function checkProviders(effects: readonly WireEffect[], { providers }: PlanDeps): void {
  const unknown = effects.find(({ provider }) => !providers.has(provider));
  if (unknown === undefined) return;
  throw new TerminalFailure(
    FAILURE_CODES.UNKNOWN_PROVIDER,
    `effect ${unknown.name} names the provider ${unknown.provider}, which this worker is not deployed with`,
  );
}

async function settleEffects(
  plan: Plan,
  wire: readonly WireEffect[],
  work: Work,
  deps: PlanDeps,
): Promise<EffectsState> {
  const rows = await readEffects(wire, deps);
  const now = deps.clock.now();
  return judgeEffects({
    effects: (plan.effects ?? []).flatMap((request, index) => {
      const effect = wire[index];
      return effect === undefined ? [] : [{ request, wire: effect, row: rows[index] }];
    }),
    ran: work.progress.effectsRan ?? false,
    budget: work.budget,
    mayBeLast: (failure) => mayBeLast(work.policy, work.progress.attempts, failure, now),
    now,
  });
}

/** JavaScript handlers may return anything: what is no plan is named, not stumbled over. */
function checkShape(plan: unknown): Plan {
  if (plan instanceof Promise) {
    throw new TerminalFailure(FAILURE_CODES.PLAN_INVALID, 'plan must be synchronous: it returned a promise');
  }
  if (typeof plan !== 'object' || plan === null || Array.isArray(plan)) {
    throw new TerminalFailure(FAILURE_CODES.PLAN_INVALID, 'plan must return an object');
  }
  return plan;
}

function failureOf(work: Work, failure: FailureRecord): Decision {
  const name = {
    retryable: 'RetryableFailure',
    terminal: 'TerminalFailure',
    unknown: 'UnknownFailure',
  } as const;
  return failureDecision(work, name[failure.kind], failure);
}

function failureDecision(
  work: Work,
  decision: FailureDecision['decision'],
  failure: FailureRecord,
): FailureDecision {
  return { ...base(work), decision, failure };
}

function base(work: Work) {
  const { identity, progress, plannedAt } = work;
  return { planVersion: PLAN_VERSION, identity, progress, plannedAt };
}

function identityOf(envelope: Envelope, hash: string): WorkIdentity {
  const { idempotencyKey, messageType, schemaVersion, aggregateType, aggregateId } = envelope;
  return {
    idempotencyKey,
    requestHash: hash,
    messageType,
    schemaVersion,
    aggregateType,
    aggregateId,
    ...(envelope.aggregateVersion === undefined ? {} : { aggregateVersion: envelope.aggregateVersion }),
    ...(envelope.correlationId === undefined ? {} : { correlationId: envelope.correlationId }),
    ...(envelope.tenantId === undefined ? {} : { tenantId: envelope.tenantId }),
    ...(envelope.traceparent === undefined ? {} : { traceparent: envelope.traceparent }),
  };
}

function sized<D extends Decision>(decision: D): D {
  checkStateSize(decision, 'the plan', MAX_DECISION_BYTES);
  return decision;
}
