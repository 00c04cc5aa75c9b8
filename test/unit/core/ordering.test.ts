import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appliedVersion, judgeOrder, type OrderFacts } from '../../../lambdas/core/ordering.ts';

const version = fc.integer({ min: 0, max: 30 });
const facts = fc.record({
  ordering: fc.constantFrom('none', 'latest', 'sequential', 'arrival'),
  stream: fc.constant('s'),
  idempotencyKey: fc.constantFrom('mine', 'other'),
  incoming: fc.integer({ min: 1, max: 30 }),
  stored: version,
  lastKey: fc.constantFrom(undefined, 'mine', 'other'),
  skipped: fc.array(version, { maxLength: 6 }),
});

describe('judgeOrder', () => {
  it('never lets a version go down or stand still, and skips none but those marked', () => {
    fc.assert(
      fc.property(facts, (given: OrderFacts) => {
        const verdict = judgeOrder(given);
        const incoming = given.incoming ?? 0;
        if (given.ordering === 'none') expect(verdict.verdict).toBe('apply');
        else if (verdict.verdict === 'apply') {
          expect(incoming).toBeGreaterThan(given.stored);
          if (given.ordering === 'latest') return;
          for (let between = given.stored + 1; between < incoming; between += 1) {
            expect(given.skipped).toContain(between);
          }
        }
      }),
    );
  });

  it('applies every version once, whatever the order of arrival, when those that wait come again', () => {
    const order = fc.shuffledSubarray([1, 2, 3, 4, 5, 6, 7], { minLength: 7 });
    fc.assert(
      fc.property(order, (arrivals) => {
        let stored = 0;
        let lastKey: string | undefined;
        const applied: number[] = [];
        let waiting = [...arrivals];
        while (waiting.length > 0) {
          const before = waiting.length;
          waiting = waiting.filter((incoming) => {
            const idempotencyKey = `v${incoming}`;
            const { verdict } = judgeOrder({
              ordering: 'sequential',
              stream: 's',
              idempotencyKey,
              incoming,
              stored,
              lastKey,
              skipped: [],
            });
            if (verdict !== 'apply') return true;
            stored = incoming;
            lastKey = idempotencyKey;
            applied.push(incoming);
            return false;
          });
          expect(waiting.length).toBeLessThan(before);
        }
        expect(applied).toEqual([1, 2, 3, 4, 5, 6, 7]);
      }),
    );
  });

  it.each([
    ['the current version under another key', { incoming: 3, lastKey: 'other' }, 'conflict'],
    ['the current version under its own key', { incoming: 3, lastKey: 'mine' }, 'superseded'],
    ['an older version', { incoming: 2, lastKey: 'other' }, 'superseded'],
    ['the next version', { incoming: 4, lastKey: 'other' }, 'apply'],
    ['a later version', { incoming: 6, lastKey: 'other' }, 'wait'],
    ['a later version behind skipped ones', { incoming: 6, lastKey: 'other', skipped: [4, 5] }, 'apply'],
  ])('judges %s', (_what, change, verdict) => {
    const given: OrderFacts = {
      ordering: 'sequential',
      stream: 's',
      idempotencyKey: 'mine',
      stored: 3,
      skipped: [],
      ...change,
    };

    expect(judgeOrder(given).verdict).toBe(verdict);
  });
});

describe('appliedVersion', () => {
  it('moves over consecutive markers only', () => {
    expect(appliedVersion(3, [5, 4, 7])).toBe(5);
    expect(appliedVersion(3, [5])).toBe(3);
  });
});
