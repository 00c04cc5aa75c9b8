import { describe, expect, it } from 'vitest';
import { createHarness } from './harness.ts';

describe('an expression', () => {
  const evaluate = (expression: string) => ({
    QueryLanguage: 'JSONata',
    StartAt: 'Think',
    States: { Think: { Type: 'Pass', Output: `{% ${expression} %}`, End: true } },
  });

  it('may run for a second only', async () => {
    let reads = 0;
    const harness = createHarness(evaluate('($loop := function($n) { $loop($n + 1) }; $loop(0))'), {
      // Each look at the clock costs 300 ms.
      clock: (() => {
        const inner = createHarness().clock;
        return { ...inner, now: () => inner.now() + 300 * reads++ };
      })(),
    });

    const end = await harness.finish(await harness.start());

    expect(end.error).toBe('States.QueryEvaluationError');
    expect(end.cause).toContain('1000 ms');
  });

  it('reads the injected time, ids and random numbers', async () => {
    const harness = createHarness(evaluate("[$now(), $millis(), $random(), $now('[Y0001]-[M01]')]"));

    const end = await harness.finish(await harness.start());

    expect(JSON.parse(String(end.output))).toEqual([
      '2026-01-01T00:00:00.000Z',
      Date.UTC(2026, 0, 1),
      0.5,
      '2026-01',
    ]);
  });

  it.each([
    ['$partition([1,2,3,4,5], 2)', [[1, 2], [3, 4], [5]]],
    ['$range(1, 10, 4)', [1, 5, 9]],
    ['$range(3, 1, -1)', [3, 2, 1]],
    ["$hash('abc', 'MD5')", '900150983cd24fb0d6963f7d28e17f72'],
    ["$hash('abc', 'SHA-1')", 'a9993e364706816aba3e25717850c26c9cd0d89d'],
    ['$random(7) = $random(7)', true],
    ['$parse(\'{"a":[1]}\')', { a: [1] }],
    ['$length($uuid())', 36],
  ])('has %s', async (expression, expected) => {
    const harness = createHarness(evaluate(expression));

    const end = await harness.finish(await harness.start());

    expect(JSON.parse(String(end.output))).toEqual(expected);
  });

  it.each([
    ["$eval('1+1')", 'T1006'],
    ["$hash('abc', 'CRC')", 'unknown algorithm'],
    ["$parse('{')", 'not JSON'],
    ['$partition([1], 0)', 'at least 1'],
    ['$range(1, 5, 0)', "can't be 0"],
    ["1 + 'a'", 'T2002'],
    ['$sum', 'unsupported result type'],
  ])('fails for %s', async (expression, reason) => {
    const harness = createHarness(evaluate(expression));

    const end = await harness.finish(await harness.start());

    expect(end.error).toBe('States.QueryEvaluationError');
    expect(end.cause).toContain(reason);
  });
});
