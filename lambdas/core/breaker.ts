/**
 * The circuit breaker of the queue: when nothing can be started, or nothing at work gets done, polling stops. Every
 * receive counts towards the dead-letter queue, so holding messages back by failing them would end there.
 */
export const BREAKER_STATES = ['closed', 'open', 'halfOpen'] as const;
export type BreakerState = (typeof BREAKER_STATES)[number];

export interface Breaker {
  readonly state: BreakerState;
  /** Since when it has been in this state (epoch milliseconds). */
  readonly since: number;
  /** How often it has opened in a row: each time it stays open for longer. */
  readonly openings: number;
}

export const CLOSED_BREAKER: Breaker = { state: 'closed', since: 0, openings: 0 };

/** What was seen since the last look. */
export interface BreakerFacts {
  /** Epoch milliseconds. */
  readonly now: number;
  /** Batches of which the starter could not start a single message. */
  readonly failedBatches: number;
  /** Whether any execution has started. */
  readonly started: boolean;
  /** Whether the in-flight register is full of what was in it at the last look. */
  readonly stuck: boolean;
}

/** What is to be done with the event source. `probe`: on again, with the least concurrency. */
export type BreakerAction = 'pause' | 'probe' | 'resume';

/** Fewer are a hiccup. */
const MIN_FAILED_BATCHES = 5;
/** Open for 5 minutes, then 10, 20, 40, and an hour at most. */
const OPEN_MILLIS = 5 * 60_000;
const MAX_OPEN_MILLIS = 60 * 60_000;

/**
 * - closed → open: nothing started while batches failed, or the register is stuck
 * - open → half open: when its time is up
 * - half open → closed: something started, or there was nothing to start; → open: it failed again
 */
export function nextBreaker(
  breaker: Breaker,
  facts: BreakerFacts,
): { readonly breaker: Breaker; readonly action?: BreakerAction } {
  const { now, failedBatches, started, stuck } = facts;
  const open = (): { breaker: Breaker; action: BreakerAction } => ({
    breaker: { state: 'open', since: now, openings: breaker.openings + 1 },
    action: 'pause',
  });
  switch (breaker.state) {
    case 'closed': {
      const overloaded = stuck || (failedBatches >= MIN_FAILED_BATCHES && !started);
      return overloaded ? open() : { breaker };
    }
    case 'open': {
      const due = breaker.since + Math.min(MAX_OPEN_MILLIS, OPEN_MILLIS * 2 ** (breaker.openings - 1));
      if (now < due || stuck) return { breaker };
      return { breaker: { ...breaker, state: 'halfOpen', since: now }, action: 'probe' };
    }
    case 'halfOpen':
      if (stuck || (failedBatches > 0 && !started)) return open();
      return { breaker: { state: 'closed', since: now, openings: 0 }, action: 'resume' };
  }
}
