import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fullJitterSeconds } from '../../../lambdas/core/backoff.ts';
import { mayBeLast, resolvePolicy } from '../../../lambdas/core/policy.ts';

describe('resolvePolicy', () => {
  it('has defaults', () => {
    expect(resolvePolicy({})).toEqual({
      maxBusinessAttempts: 5,
      baseSeconds: 2,
      capSeconds: 300,
      terminalAfterCodes: [],
    });
  });

  it("puts the type's over the defaults", () => {
    expect(resolvePolicy({ max: 7, baseSeconds: 1, capSeconds: 9, terminalAfterCodes: ['A'] })).toEqual({
      maxBusinessAttempts: 7,
      baseSeconds: 1,
      capSeconds: 9,
      terminalAfterCodes: ['A'],
    });
  });

  it("puts the envelope's over the type's", () => {
    const override = {
      maxBusinessAttempts: 2,
      notBefore: '2026-01-01T00:00:00.000Z',
      retryableUntil: '2026-02-01T00:00:00.000Z',
      terminalAfterCodes: [],
    };

    expect(resolvePolicy({ max: 7, terminalAfterCodes: ['A'] }, override)).toEqual({
      ...override,
      baseSeconds: 2,
      capSeconds: 300,
    });
  });

  it('takes a notBefore of null as none', () => {
    expect(resolvePolicy({}, { notBefore: null })).not.toHaveProperty('notBefore');
  });
});

describe('mayBeLast', () => {
  const NOW = Date.parse('2026-01-01T00:00:00Z');
  const policy = resolvePolicy({ max: 5, baseSeconds: 10, capSeconds: 60, terminalAfterCodes: ['STOP'] });
  const until = (seconds: number) => ({
    ...policy,
    retryableUntil: new Date(NOW + seconds * 1000).toISOString(),
  });
  const BUSY = { code: 'BUSY' };

  it.each([
    ['the last attempt', policy, 4, BUSY, true],
    ['one before the last', policy, 3, BUSY, false],
    ['a code after which there is no further one', policy, 0, { code: 'STOP' }, true],
    ['a window that the longest delay fits into', until(71), 1, BUSY, false],
    ['a window that the longest delay would miss', until(49), 1, BUSY, true],
    ['a window that the capped delay fits into', until(91), 3, BUSY, false],
    [
      'a window that the provider wants waited beyond',
      until(91),
      1,
      { ...BUSY, retryAfterSeconds: 80 },
      true,
    ],
  ])('says of %s what it should', (_what, given, attempts, failure, expected) => {
    expect(mayBeLast(given, attempts, failure, NOW)).toBe(expected);
  });
});

describe('fullJitterSeconds', () => {
  it('lies between the floor and the floor plus the capped back-off, in whole seconds', () => {
    const seconds = fc.integer({ min: 0, max: 1000 });
    const above = fc.integer({ min: 1, max: 1000 });
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5000 }),
        random,
        above,
        seconds,
        seconds,
        (attempt, value, base, cap, floor) => {
          const options = { baseSeconds: base, capSeconds: cap, floorSeconds: floor };
          const result = fullJitterSeconds(attempt, () => value, options);
          expect(Number.isSafeInteger(result)).toBe(true);
          expect(result).toBeGreaterThanOrEqual(floor);
          expect(result).toBeLessThanOrEqual(floor + Math.min(cap, base * 2 ** (attempt - 1)) + 1);
        },
      ),
    );
  });
});
