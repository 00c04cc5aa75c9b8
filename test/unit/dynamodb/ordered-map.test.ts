import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OrderedMap } from '../../../local/dynamodb/ordered-map.ts';

const keys = fc.string({ maxLength: 2 });
const steps = fc.array(fc.record({ remove: fc.boolean(), key: keys, value: fc.integer() }));

describe('OrderedMap', () => {
  it('holds and orders what a sorted Map would', () => {
    fc.assert(
      fc.property(
        steps,
        keys,
        fc.option(keys, { nil: undefined }),
        fc.boolean(),
        (all, from, to, reverse) => {
          const map = new OrderedMap<number>();
          const model = new Map<string, number>();
          for (const { remove, key, value } of all) {
            if (remove) {
              map.delete(key);
              model.delete(key);
            } else {
              map.set(key, value);
              model.set(key, value);
            }
          }
          const expected = [...model]
            .filter(([key]) => key >= from && (to === undefined || key < to))
            .toSorted(([left], [right]) => (left < right ? -1 : 1));
          expect([...map.range(from, to, reverse)]).toEqual(reverse ? expected.toReversed() : expected);
          expect(map.size).toBe(model.size);
          expect(map.get(from)).toBe(model.get(from));
        },
      ),
    );
  });
});
