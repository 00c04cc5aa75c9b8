import { describe, expect, it } from 'vitest';
import { type Breaker, CLOSED_BREAKER, nextBreaker } from '../../../lambdas/core/breaker.ts';

const MINUTE = 60_000;
const quiet = { now: 100 * MINUTE, failedBatches: 0, started: false, stuck: false };
const open = (openings: number): Breaker => ({ state: 'open', since: quiet.now, openings });
const halfOpen: Breaker = { state: 'halfOpen', since: quiet.now, openings: 2 };

describe('the circuit breaker', () => {
  it.each([
    ['nothing happens', quiet],
    ['a few batches fail', { ...quiet, failedBatches: 4 }],
    ['batches fail beside others that start', { ...quiet, failedBatches: 50, started: true }],
  ])('stays closed when %s', (_when, facts) => {
    expect(nextBreaker(CLOSED_BREAKER, facts)).toEqual({ breaker: CLOSED_BREAKER });
  });

  it.each([
    ['batches fail and nothing starts', { ...quiet, failedBatches: 5 }],
    ['the register is full of the same', { ...quiet, started: true, stuck: true }],
  ])('opens when %s', (_when, facts) => {
    expect(nextBreaker(CLOSED_BREAKER, facts)).toEqual({ breaker: open(1), action: 'pause' });
  });

  it.each([
    [1, 5],
    [2, 10],
    [4, 40],
    [5, 60],
    [90, 60],
  ])('stays open after opening number %i for %i minutes', (openings, minutes) => {
    const breaker = open(openings);
    const due = quiet.now + minutes * MINUTE;

    expect(nextBreaker(breaker, { ...quiet, now: due - 1 })).toEqual({ breaker });
    expect(nextBreaker(breaker, { ...quiet, now: due })).toEqual({
      breaker: { state: 'halfOpen', since: due, openings },
      action: 'probe',
    });
    expect(nextBreaker(breaker, { ...quiet, now: due, stuck: true })).toEqual({ breaker });
  });

  it('closes when a probe succeeds, or has nothing to do', () => {
    const closed = { breaker: { state: 'closed', since: quiet.now, openings: 0 }, action: 'resume' };

    expect(nextBreaker(halfOpen, { ...quiet, failedBatches: 3, started: true })).toEqual(closed);
    expect(nextBreaker(halfOpen, quiet)).toEqual(closed);
  });

  it('opens again, for longer, when a probe fails', () => {
    expect(nextBreaker(halfOpen, { ...quiet, failedBatches: 1 })).toEqual({
      breaker: open(3),
      action: 'pause',
    });
  });
});
