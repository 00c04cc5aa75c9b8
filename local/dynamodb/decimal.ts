import { validationError } from './errors.ts';

interface Decimal {
  readonly digits: bigint;
  /** Digits after the point. */
  readonly scale: number;
}

const MAX_DIGITS = 38;
const MAX_EXPONENT = 125;
const MIN_EXPONENT = -130;

/** Reads a number in plain notation, as the validation leaves every stored number. */
function parse(text: string): Decimal {
  const point = text.indexOf('.');
  return point === -1
    ? { digits: BigInt(text), scale: 0 }
    : { digits: BigInt(text.slice(0, point) + text.slice(point + 1)), scale: text.length - point - 1 };
}

function align(left: Decimal, right: Decimal): { left: bigint; right: bigint; scale: number } {
  const scale = Math.max(left.scale, right.scale);
  return {
    left: left.digits * 10n ** BigInt(scale - left.scale),
    right: right.digits * 10n ** BigInt(scale - right.scale),
    scale,
  };
}

function format(digits: bigint, scale: number): string {
  const sign = digits < 0n ? '-' : '';
  const text = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0');
  const whole = text.slice(0, text.length - scale);
  const fraction = text.slice(text.length - scale).replace(/0+$/, '');
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The number's significant digits without sign, point and surrounding zeros; '' for zero. */
export function significantDigits(text: string): string {
  return text.replace(/^-/, '').replace('.', '').replace(/^0+/, '').replace(/0+$/, '');
}

/** The power of ten of the first significant digit; 0 for zero. */
export function exponentOf(text: string): number {
  const [whole = '', fraction = ''] = text.replace(/^-/, '').split('.');
  const trimmed = whole.replace(/^0+/, '');
  if (trimmed !== '') {
    return trimmed.length - 1;
  }
  const leading = fraction.search(/[1-9]/);
  return leading === -1 ? 0 : -leading - 1;
}

/** Exact sum or difference. Throws ValidationException where the result is beyond what a number holds. */
export function calculate(left: string, right: string, operation: 'add' | 'subtract'): string {
  const aligned = align(parse(left), parse(right));
  const digits = operation === 'add' ? aligned.left + aligned.right : aligned.left - aligned.right;
  const result = format(digits, aligned.scale);
  const exponent = exponentOf(result);
  if (exponent > MAX_EXPONENT) {
    throw validationError(
      'Number overflow. Attempting to store a number with magnitude larger than supported range',
    );
  }
  if (exponent < MIN_EXPONENT) {
    throw validationError(
      'Number underflow. Attempting to store a number with magnitude smaller than supported range',
    );
  }
  if (significantDigits(result).length > MAX_DIGITS) {
    throw validationError('Attempting to store more than 38 significant digits in a Number');
  }
  return result;
}

/** Negative, zero or positive as `left` is below, equal to or above `right`. */
export function compareNumbers(left: string, right: string): number {
  const aligned = align(parse(left), parse(right));
  return aligned.left < aligned.right ? -1 : aligned.left > aligned.right ? 1 : 0;
}
