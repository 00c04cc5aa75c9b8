import type { Clock, NewId } from '../core/clock.ts';
import {
  type AbandonFacts,
  abandonItems,
  abandonNotice,
  type ClosedExecution,
  judgeClosure,
  UNSUCCESSFUL,
  type Unsuccessful,
} from '../core/closed-execution.ts';
import { errorName } from '../core/errors.ts';
import type { RowReader } from '../core/ports.ts';
import { textOf } from '../core/ports.ts';
import type { StreamPlace } from '../core/stream.ts';
import { inboxKey } from '../core/table.ts';
import type { Telemetry } from '../core/telemetry.ts';
import type { TransactionItem, TransactionOutcome } from '../core/transaction.ts';
import { moveBreaker, type OverloadDeps, reviewRegister } from './overload.ts';

/** An execution that may have to be settled. */
export interface Candidate {
  readonly arn: string;
  readonly name: string;
  /** What is known of its input without asking: saves a description where the row already says enough. */
  readonly idempotencyKey?: string;
}

/** One page of a list by status, newest start first. */
export interface ExecutionPage {
  readonly executions: readonly {
    readonly arn: string;
    readonly name: string;
    /** Epoch milliseconds. */
    readonly startedAt: number;
    readonly stoppedAt: number;
  }[];
  readonly nextToken: string | undefined;
}

/** How far the sweeps have come. */
export interface SweepCursor {
  /** Everything that ended before this (epoch milliseconds) has been looked at. */
  readonly since: number;
  /** When the last sweep began. */
  readonly lastSweep?: number;
  /** A pass that one sweep could not finish goes on from here. */
  readonly unfinished?: { readonly startedAt: number; readonly tokens: Readonly<Record<string, string>> };
}

export interface ReconcilerDeps extends OverloadDeps {
  readonly clock: Clock;
  /** Of at most 36 characters: two transactions of the same content must be two. */
  readonly newId: NewId;
  readonly telemetry: Telemetry;
  readonly rows: RowReader;
  readonly worker: string;
  readonly inboxTtlSeconds: number;
  readonly executionTimeoutSeconds: number;
  /** The execution as it is now; undefined when it is unknown, not closed without success, or not ours to read. */
  readonly describeClosed: (arn: string) => Promise<ClosedExecution | undefined>;
  readonly list: (status: Unsuccessful, pageToken: string | undefined) => Promise<ExecutionPage>;
  readonly transact: (items: readonly TransactionItem[], token: string) => Promise<TransactionOutcome>;
  readonly announce: (notice: ReturnType<typeof abandonNotice>) => Promise<void>;
  readonly readCursor: () => Promise<SweepCursor | undefined>;
  readonly writeCursor: (cursor: SweepCursor) => Promise<void>;
  /**
   * Closes open cases of the day whose key has completed since; returns how many, and how many it saw that stay open.
   * @param turn another number in each sweep: where to begin
   */
  readonly closeCompleted: (
    day: string,
    turn: number,
  ) => Promise<{ readonly closed: number; readonly open: number }>;
  /** Ordering streams with executions parked on that day, before that instant (both ISO 8601). */
  readonly parkedPlaces: (day: string, before: string) => Promise<readonly StreamPlace[]>;
  /** Wakes whose turn it is; returns how many. */
  readonly wake: (place: StreamPlace) => Promise<number>;
}

/** ListExecutions refills 2 a second in small regions: 30 pages are a twentieth of five minutes' refill. */
const MAX_PAGES = 30;
/** DescribeExecution refills 10 a second: 500 are a sixth of five minutes' refill. */
const MAX_DESCRIPTIONS = 500;
/** Lists are eventually consistent: each pass looks back over this much of the last one. */
const OVERLAP_MILLIS = 10 * 60_000;
const DAY_MILLIS = 24 * 60 * 60_000;
/** An execution can be redriven for 14 days after its end, and end again. */
const REDRIVE_MILLIS = 14 * DAY_MILLIS;
/** The change stream brings a wake-up within seconds. */
const MISSED_MILLIS = 5 * 60_000;
/** Park waits for no longer. */
const MAX_PARK_MILLIS = 15 * 60_000;
/** How often sweeps are due. */
const SWEEP_MILLIS = 5 * 60_000;
/** Cases of today and yesterday are looked at in every sweep, older ones day by day in turn: each twice a day or so. */
const CLOSING_DAYS = 90;

export type Settlement = 'abandoned' | 'untouched' | 'raced';

/**
 * Ends the work of an execution that closed without success, if it left it without an end.
 *
 * The row is asked first where the key is known, since most failures have ended their work themselves; then Step
 * Functions, since an event may be late and the execution redriven; then the row is written as it was read. Safe to
 * run twice at once: one of the two is refused.
 */
export async function settle(candidate: Candidate, deps: ReconcilerDeps): Promise<Settlement> {
  if (candidate.idempotencyKey !== undefined) {
    const [known] = await deps.rows.read([inboxKey(candidate.idempotencyKey, deps.worker)]);
    const status = textOf(known, 'status');
    const final = status === 'COMPLETED' || status === 'FAILED_TERMINAL';
    if (known === undefined || final || textOf(known, 'executionName') !== candidate.name) return 'untouched';
  }
  const execution = await deps.describeClosed(candidate.arn);
  if (execution === undefined) return 'untouched';
  const [row] = await deps.rows.read([inboxKey(execution.envelope.idempotencyKey, deps.worker)]);
  const judged = judgeClosure(execution, row);
  if (judged.verdict === 'none' || row === undefined) return 'untouched';
  const facts: AbandonFacts = {
    execution,
    failure: judged.failure,
    row,
    worker: deps.worker,
    inboxTtlSeconds: deps.inboxTtlSeconds,
  };
  const result = await deps.transact(abandonItems(facts), deps.newId());
  if (result.outcome === 'GuardFailed') return 'raced';
  if (result.outcome !== 'committed') {
    throw new Error(`DynamoDB did not take the end of an execution (${result.outcome}); it is tried again`);
  }
  report(facts, deps);
  await deps.announce(abandonNotice(facts));
  return 'abandoned';
}

function report({ execution, failure }: AbandonFacts, { telemetry }: ReconcilerDeps): void {
  telemetry.error('execution_abandoned', {
    messageType: execution.envelope.messageType,
    tenantId: execution.envelope.tenantId,
    correlationId: execution.envelope.correlationId,
    traceparent: execution.envelope.traceparent,
    executionName: execution.name,
    result: 'FAILED_TERMINAL',
    code: failure.code,
  });
  telemetry.metric('TerminalFailures', 1, { code: failure.code in ENDED ? failure.code : 'OTHER' });
  telemetry.metric('Quarantined', 1);
}

const ENDED = { EXECUTION_ABORTED: true, EXECUTION_TIMED_OUT: true, EXECUTION_FAILED: true } as const;

/**
 * Looks for what events have not told: executions that closed without success since the last pass, and open cases
 * whose key has completed. Bounded; what it does not get to, the next sweep does.
 */
export async function sweep(deps: ReconcilerDeps): Promise<void> {
  const now = deps.clock.now();
  const cursor = (await deps.readCursor()) ?? { since: now - DAY_MILLIS };
  const startedAt = cursor.unfinished?.startedAt ?? now;
  // First, since it is there for the case that everything else is overloaded.
  await moveBreaker(cursor.lastSweep ?? 0, deps);
  const budget: Budget = { pages: MAX_PAGES, descriptions: MAX_DESCRIPTIONS, oldestLeft: undefined };
  const tokens: Record<string, string> = {};
  for (const status of UNSUCCESSFUL) {
    const from = cursor.unfinished?.tokens[status];
    if (cursor.unfinished !== undefined && from === undefined) continue;
    const rest = await sweepStatus(status, from === START ? undefined : from, cursor.since, budget, deps);
    if (rest !== undefined) tokens[status] = rest;
  }
  const finished = Object.keys(tokens).length === 0;
  await deps.writeCursor(
    finished
      ? { since: nextSince(startedAt, budget.oldestLeft), lastSweep: now }
      : { since: cursor.since, lastSweep: now, unfinished: { startedAt, tokens } },
  );
  await closeCases(now, deps);
  await wakeMissed(now, deps);
  await reviewRegister(deps);
}

interface Budget {
  pages: number;
  descriptions: number;
  /** When the oldest execution ended that could not be settled (epoch milliseconds). */
  oldestLeft: number | undefined;
}

/** The next pass looks at what was left again, for a day at most: what fails so long is an alarm's business. */
function nextSince(startedAt: number, oldestLeft: number | undefined): number {
  const since = startedAt - OVERLAP_MILLIS;
  return oldestLeft === undefined ? since : Math.min(since, Math.max(oldestLeft, startedAt - DAY_MILLIS));
}

/** Stands for the first page of a list that a sweep never got to. */
const START = 'START';

/** @returns the token of the page to go on from; undefined when the list has been looked through */
async function sweepStatus(
  status: Unsuccessful,
  from: string | undefined,
  since: number,
  budget: Budget,
  deps: ReconcilerDeps,
): Promise<string | undefined> {
  // The list is in order of start, so an execution that ended just now may stand far down in it.
  const oldestStart = since - deps.executionTimeoutSeconds * 1000 - REDRIVE_MILLIS;
  let token = from;
  for (;;) {
    if (budget.pages === 0 || budget.descriptions <= 0) return token ?? START;
    budget.pages -= 1;
    const page = await deps.list(status, token);
    for (const { arn, name, stoppedAt } of page.executions) {
      if (stoppedAt < since) continue;
      budget.descriptions -= 1;
      if (!(await settleOne({ arn, name }, deps))) {
        budget.oldestLeft = Math.min(stoppedAt, budget.oldestLeft ?? stoppedAt);
      }
    }
    const last = page.executions.at(-1);
    if (page.nextToken === undefined) return undefined;
    if (last !== undefined && last.startedAt < oldestStart) return undefined;
    token = page.nextToken;
  }
}

/** One execution that cannot be settled now must not keep the others from it. */
async function settleOne(candidate: Candidate, deps: ReconcilerDeps): Promise<boolean> {
  try {
    await settle(candidate, deps);
    return true;
  } catch (error) {
    deps.telemetry.warn('execution_not_settled', { executionName: candidate.name, code: errorName(error) });
    return false;
  }
}

/** Executions whose wake-up was lost, with the changes that the waker never saw: Park's own time-out is longer. */
async function wakeMissed(now: number, deps: ReconcilerDeps): Promise<void> {
  const before = new Date(now - MISSED_MILLIS).toISOString();
  const days = new Set([before.slice(0, 10), new Date(now - MAX_PARK_MILLIS).toISOString().slice(0, 10)]);
  let woken = 0;
  for (const day of days) {
    for (const place of await deps.parkedPlaces(day, before)) woken += await deps.wake(place);
  }
  if (woken > 0) deps.telemetry.warn('executions_woken_late', { woken });
}

async function closeCases(now: number, deps: ReconcilerDeps): Promise<void> {
  const turn = Math.floor(now / SWEEP_MILLIS);
  const older = 2 + (turn % (CLOSING_DAYS - 2));
  let closed = 0;
  let open = 0;
  for (const age of [0, 1, older]) {
    const day = new Date(now - age * DAY_MILLIS).toISOString().slice(0, 10);
    const done = await deps.closeCompleted(day, turn);
    closed += done.closed;
    open += done.open;
  }
  // Old days come in turn: over eight hours the greatest value is above zero while any case is open.
  deps.telemetry.metric('OpenCases', open);
  if (closed > 0) deps.telemetry.info('cases_closed', { closed });
}
