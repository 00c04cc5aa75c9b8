import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromWire, recordToWire, toWire, WireError } from '../../../lambdas/core/wire.ts';

const refusal = (value: unknown): string => {
  try {
    toWire(value, 'set.v');
  } catch (error) {
    if (error instanceof WireError) return error.message;
    throw error;
  }
  return 'accepted';
};

describe('toWire', () => {
  it.each([
    ['undefined', undefined, 'set.v: must not be undefined'],
    ['undefined in a list', [[undefined]], 'set.v[0][0]: must not be undefined'],
    ['a hole in a list', new Array(1), 'set.v[0]: must not be undefined'],
    ['NaN', { a: Number.NaN }, 'set.v.a: must be a finite number'],
    ['a number beyond 2^53', 2 ** 53, 'set.v: must not exceed 2^53 - 1 as a number'],
    ['a number too close to zero', 1e-131, 'set.v: must not be closer to zero'],
    ['39 digits', 10n ** 38n, 'set.v: must have at most 38 digits'],
    ['an invalid date', new Date(Number.NaN), 'set.v: must be a valid date'],
    ['a lone surrogate', '\uD800', 'set.v: must be well-formed Unicode'],
    ['a lone surrogate in a key', { '\uD800': 1 }, 'set.v: must have well-formed keys'],
    ['the reserved key', { $number: '1' }, 'set.v: must not use the reserved key $number'],
    ['__proto__', JSON.parse('{"__proto__":1}'), 'set.v: must not use the key __proto__'],
    ['a map', new Map(), 'set.v: must be a plain object'],
    ['a set', new Set(), 'set.v: must be a plain object'],
    ['bytes', new Uint8Array(), 'set.v: must be a plain object'],
    ['a function', () => {}, 'set.v: must not be a function'],
    ['a symbol', Symbol('s'), 'set.v: must not be a symbol'],
  ])('refuses %s', (_what, value, rule) => {
    expect(refusal(value)).toContain(rule);
  });

  it('refuses what nests deeper than an item can, cycles among them', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;

    expect(refusal(cyclic)).toContain('must not nest deeper than 31 levels');
  });

  it('leaves undefined attributes out', () => {
    expect(recordToWire({ a: undefined, b: { c: undefined } }, 'set')).toEqual({ b: {} });
  });

  it('gives back, through JSON, what was planned', () => {
    const leaf = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.boolean(),
      fc.constant(null),
      fc.maxSafeInteger(),
      fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n }),
    );
    const name = fc.string({ unit: 'grapheme' }).filter((key) => !['__proto__', '$number'].includes(key));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 5 }, leaf, fc.array(tie('value')), fc.dictionary(name, tie('value'))),
    }));
    fc.assert(
      fc.property(value, (planned) => {
        expect(fromWire(JSON.parse(JSON.stringify(toWire(planned, 'v'))))).toEqual(planned);
      }),
    );
  });
});
