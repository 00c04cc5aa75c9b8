import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromItem, toItem } from '../../../lambdas/aws/items.ts';

describe('toItem and fromItem', () => {
  it.each([
    ['an empty string', '', { S: '' }],
    ['null', null, { NULL: true }],
    ['a big integer', 12_345_678_901_234_567_890n, { N: '12345678901234567890' }],
    ['a fraction', 0.1, { N: '0.1' }],
    ['an empty list', [], { L: [] }],
    ['an empty map', {}, { M: {} }],
    ['bytes', new Uint8Array([1]), { B: new Uint8Array([1]) }],
    ['a map with keys that objects inherit', { constructor: 'x' }, { M: { constructor: { S: 'x' } } }],
    ['undefined in a map', { a: undefined }, { M: {} }],
  ])('carries %s', (_what, value, attribute) => {
    expect(toItem({ value })).toEqual({ value: attribute });
  });

  it.each([
    ['a number beyond 2^53', 2 ** 53],
    ['NaN', Number.NaN],
    ['a date', new Date(0)],
    ['a set', new Set([1])],
    ['a function', () => {}],
    ['a symbol', Symbol('s')],
  ])('refuses %s', (_what, value) => {
    expect(() => toItem({ value })).toThrow(TypeError);
  });

  it('leaves undefined attributes out', () => {
    expect(toItem({ a: undefined, b: 1 })).toEqual({ b: { N: '1' } });
  });

  it('reads whole numbers beyond 2^53 as bigints', () => {
    expect(fromItem({ n: { N: '9007199254740993' }, m: { N: '-3' } })).toEqual({
      n: 9007199254740993n,
      m: -3,
    });
  });

  it('gives back what was stored', () => {
    // No plan and no payload gets this far with __proto__: both are refused before.
    const name = fc.string({ minLength: 1 }).filter((candidate) => candidate !== '__proto__');
    const leaf = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.boolean(),
      fc.constant(null),
      fc.maxSafeInteger(),
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }).map((value) => value + 0),
      fc.bigInt({ min: 2n ** 53n, max: 10n ** 37n }),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('value')), fc.dictionary(name, tie('value'))),
    }));
    fc.assert(
      fc.property(fc.dictionary(name, value), (row) => {
        expect(fromItem(toItem(row))).toEqual(row);
      }),
    );
  });
});
