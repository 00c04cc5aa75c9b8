import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calculate, compareNumbers, exponentOf, significantDigits } from '../../../local/dynamodb/decimal.ts';

/** A number as whole units of 10^-scale, so that the expected result is plain integer arithmetic. */
const SCALE = 6;
const units = fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n });

function plain(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(SCALE + 1, '0');
  const whole = digits.slice(0, -SCALE);
  const fraction = digits.slice(-SCALE).replace(/0+$/, '');
  return `${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

describe('decimal arithmetic', () => {
  it('adds, subtracts and compares exactly', () => {
    fc.assert(
      fc.property(units, units, (left, right) => {
        expect(calculate(plain(left), plain(right), 'add')).toBe(plain(left + right));
        expect(calculate(plain(left), plain(right), 'subtract')).toBe(plain(left - right));
        expect(compareNumbers(plain(left), plain(right))).toBe(left < right ? -1 : left > right ? 1 : 0);
      }),
    );
  });

  it.each([
    ['0.1', '0.2', '0.3'],
    ['1', '-1', '0'],
    ['99999999999999999999999999999999999999', '1', `1${'0'.repeat(38)}`],
    [`0.${'0'.repeat(129)}1`, `0.${'0'.repeat(129)}1`, `0.${'0'.repeat(129)}2`],
  ])('adds %s and %s to %s', (left, right, sum) => {
    expect(calculate(left, right, 'add')).toBe(sum);
  });

  it.each([
    ['99999999999999999999999999999999999999', '0.1', '38 significant digits'],
    [`9${'0'.repeat(125)}`, `1${'0'.repeat(125)}`, 'Number overflow'],
  ])('refuses %s + %s', (left, right, message) => {
    expect(() => calculate(left, right, 'add')).toThrow(message);
  });

  it.each([
    ['0', '', 0],
    ['-1200', '12', 3],
    ['0.0012', '12', -3],
    ['10.01', '1001', 1],
  ])('knows the digits and the exponent of %s', (number, digits, exponent) => {
    expect(significantDigits(number)).toBe(digits);
    expect(exponentOf(number)).toBe(exponent);
  });
});
