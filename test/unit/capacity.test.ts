import { describe, expect, it } from 'vitest';
import { capacity } from '../../lib/capacity.ts';

describe('capacity', () => {
  it('names the constraint that binds and shows its arithmetic', () => {
    const found = capacity({ databaseWritesPerSecond: 400, writesPerMessage: 4, batchSeconds: 0.5 });
    expect(found.bindingConstraint).toBe('databaseWritesPerSecond');
    expect(found.messagesPerSecond).toBe(100);
    expect(found.maxConcurrency).toBe(5);
    expect(found.explanation).toContain('databaseWritesPerSecond binds at 100.0 messages a second');
  });

  it('is bound by StartExecution when nothing else is known', () => {
    expect(capacity({})).toMatchObject({ bindingConstraint: 'startExecutionsPerSecond', maxConcurrency: 4 });
  });

  it.each([
    ['downstreamCallsPerSecond', { downstreamCallsPerSecond: 60, callsPerMessage: 2 }, 30],
    ['stateTransitionsPerSecond', { stateTransitionsPerSecond: 100, transitionsPerMessage: 4 }, 25],
    ['lambdaConcurrency', { lambdaConcurrency: 23, functionSecondsPerMessage: 0.2 }, 100],
  ])('is bound by %s', (constraint, input, perSecond) => {
    const found = capacity(input);
    expect(found.bindingConstraint).toBe(constraint);
    expect(found.messagesPerSecond).toBeCloseTo(perSecond);
  });

  it('counts the rounds that contention repeats', () => {
    const calm = capacity({ databaseWritesPerSecond: 100 });
    const contended = capacity({ databaseWritesPerSecond: 100, lockContention: 0.5 });
    expect(contended.messagesPerSecond).toBeCloseTo(calm.messagesPerSecond / 2);
  });

  it('says when the least that Lambda allows is too much for the constraint', () => {
    const found = capacity({ downstreamCallsPerSecond: 1 });
    expect(found.maxConcurrency).toBe(2);
    expect(found.explanation).toContain('set maxInFlight as well');
  });

  it('stays within what Lambda allows however much the surroundings bear', () => {
    const found = capacity({
      startExecutionsPerSecond: 1e6,
      stateTransitionsPerSecond: 1e7,
      lambdaConcurrency: 1e6,
      batchSeconds: 10,
      batchSize: 1,
    });
    expect(found.maxConcurrency).toBe(1000);
  });

  it('refuses every number that cannot be, at once', () => {
    expect(() => capacity({ batchSize: 0, databaseWritesPerSecond: -1, lockContention: 1 })).toThrow(
      /batchSize.*databaseWritesPerSecond.*lockContention/,
    );
  });
});
