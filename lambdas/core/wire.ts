import type { JsonObject, JsonValue } from './json.ts';

/** DynamoDB nests at most 32 levels; one is the item itself. */
const MAX_DEPTH = 31;
/** DynamoDB numbers: up to 38 significant digits, none closer to zero than 1E-130. */
const MAX_DIGITS = 38;
const MIN_MAGNITUDE = 1e-130;
/** How a whole number that a JSON number would round travels between Plan and Commit. */
const NUMBER_TAG = '$number';

/** A value in a plan that JSON or DynamoDB cannot carry. */
export class WireError extends Error {
  override readonly name = 'WireError';
  /** Path inside the plan, e.g. `set.items[2]`. */
  readonly path: string;

  constructor(path: string, rule: string) {
    super(`${path}: ${rule}`);
    this.path = path;
  }
}

/**
 * Turns a plan's value into JSON that Commit turns into DynamoDB attributes, or throws {@link WireError}.
 *
 * - `undefined` in an object: the key is left out; in an array: refused (it would shift or become null)
 * - `null`: NULL · empty strings: kept · `Date`: ISO 8601 text · bigint: an exact number
 * - NaN, infinities, numbers beyond 2^53 or below DynamoDB's range, invalid dates, lone surrogates, symbols, functions, class
 *   instances (Map, Set, typed arrays, …): refused
 */
export function toWire(value: unknown, path: string, depth = 0): JsonValue {
  if (depth > MAX_DEPTH) throw new WireError(path, `must not nest deeper than ${MAX_DEPTH} levels`);
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'string':
      if (!value.isWellFormed()) throw new WireError(path, 'must be well-formed Unicode');
      return value;
    case 'number':
      return numberToWire(value, path);
    case 'bigint':
      if (String(value).replace('-', '').length > MAX_DIGITS) {
        throw new WireError(path, `must have at most ${MAX_DIGITS} digits`);
      }
      return { [NUMBER_TAG]: String(value) };
    case 'object':
      break;
    case 'undefined':
      throw new WireError(path, 'must not be undefined');
    default:
      throw new WireError(path, `must not be a ${typeof value}`);
  }
  if (value === null) return null;
  if (Array.isArray(value)) {
    return Array.from(value, (entry, index) => toWire(entry, `${path}[${index}]`, depth + 1));
  }
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new WireError(path, 'must be a valid date');
    return value.toISOString();
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) {
    throw new WireError(path, 'must be a plain object (no Map, Set, typed array or class instance)');
  }
  return recordToWire(value, path, depth);
}

/** As {@link toWire}, for an object whose keys become attributes or map keys. */
export function recordToWire(value: object, path: string, depth = 0): JsonObject {
  const result: Record<string, JsonValue> = {};
  for (const [key, entry] of Object.entries(value)) {
    if (entry === undefined) continue;
    if (key === NUMBER_TAG) throw new WireError(path, `must not use the reserved key ${NUMBER_TAG}`);
    if (key === '__proto__') throw new WireError(path, 'must not use the key __proto__');
    if (!key.isWellFormed()) throw new WireError(path, 'must have well-formed keys');
    result[key] = toWire(entry, key === '' ? `${path}[""]` : `${path}.${key}`, depth + 1);
  }
  return result;
}

/** The native value of a wire value, for DynamoDB marshalling: tagged numbers become bigints again. */
export function fromWire(value: JsonValue): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) return value.map(fromWire);
  const tagged = value[NUMBER_TAG];
  if (typeof tagged === 'string') return BigInt(tagged);
  return recordFromWire(value);
}

export function recordFromWire(value: JsonObject): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, fromWire(entry)]));
}

/** Size of a value as JSON text, in bytes. */
export const wireBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

function numberToWire(value: number, path: string): number {
  if (!Number.isFinite(value)) throw new WireError(path, 'must be a finite number');
  const magnitude = Math.abs(value);
  if (magnitude > Number.MAX_SAFE_INTEGER) {
    throw new WireError(path, 'must not exceed 2^53 - 1 as a number (use a bigint, which is exact)');
  }
  if (magnitude > 0 && magnitude < MIN_MAGNITUDE) {
    throw new WireError(path, 'must not be closer to zero than DynamoDB’s numbers (1E-130)');
  }
  return magnitude === 0 ? 0 : value;
}
