import { createHash } from 'node:crypto';
import jsonata from 'jsonata';
import type { ExpressionDeps } from './expression.ts';

/** Longest array that `$range` makes, as the service limits it. */
const RANGE_ITEMS = 1000;

const HASHES: Readonly<Record<string, string>> = {
  MD5: 'md5',
  'SHA-1': 'sha1',
  'SHA-256': 'sha256',
  'SHA-384': 'sha384',
  'SHA-512': 'sha512',
};

interface FunctionHost {
  assign(name: string, value: unknown): void;
  registerFunction(name: string, implementation: (...args: unknown[]) => unknown, signature?: string): void;
}

/** Gives a compiled expression Step Functions' functions, and takes away what the service doesn't offer. */
export function registerStepFunctionsExtras(host: FunctionHost, deps: ExpressionDeps): void {
  // Not in Step Functions: calling it must fail like any unknown function.
  host.assign('eval', undefined);
  host.registerFunction('partition', partition, '<an:a>');
  host.registerFunction('range', range, '<nnn:x>');
  host.registerFunction('hash', hash, '<xs:s>');
  host.registerFunction(
    'random',
    (seed) => (typeof seed === 'number' ? seeded(seed) : deps.random()),
    '<n?:n>',
  );
  host.registerFunction('uuid', () => deps.newId(), '<:s>');
  host.registerFunction('parse', parse, '<s:x>');
  host.registerFunction('millis', () => deps.clock.now(), '<:n>');
  host.registerFunction('now', (picture, zone) => formatNow(deps.clock.now(), picture, zone), '<s?s?:s>');
}

function partition(items: unknown, size: unknown): unknown[][] | undefined {
  if (!Array.isArray(items)) return undefined;
  const length = requireInteger('$partition', 'the size', size);
  if (length < 1) throw new Error('$partition: the size must be at least 1');
  const chunks: unknown[][] = [];
  for (let start = 0; start < items.length; start += length) chunks.push(items.slice(start, start + length));
  return chunks;
}

/** Like every sequence of JSONata, one of a single item is that item, and an empty one is nothing. */
function range(first: unknown, last: unknown, step: unknown): unknown {
  const from = requireInteger('$range', 'the first argument', first);
  const to = requireInteger('$range', 'the second argument', last);
  const by = requireInteger('$range', 'the third argument', step);
  if (by === 0) throw new Error("$range: the third argument can't be 0");
  const items: number[] = [];
  for (let value = from; by > 0 ? value <= to : value >= to; value += by) {
    items.push(value);
    if (items.length > RANGE_ITEMS) throw new Error(`$range: more than ${RANGE_ITEMS} items`);
  }
  return items.length > 1 ? items : items[0];
}

function hash(data: unknown, algorithm: unknown): string | undefined {
  if (data === undefined) return undefined;
  const name = typeof algorithm === 'string' ? HASHES[algorithm] : undefined;
  if (name === undefined) {
    throw new Error(`$hash: unknown algorithm; choose one of ${Object.keys(HASHES).join(', ')}`);
  }
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return createHash(name).update(text).digest('hex');
}

function parse(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error('$parse: the argument is not JSON', { cause: error });
  }
}

function requireInteger(where: string, what: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    throw new Error(`${where}: ${what} must be an integer`);
  }
  return value;
}

/** The same number for the same seed. */
function seeded(seed: number): number {
  const digest = createHash('sha256').update(String(seed)).digest();
  return digest.readUIntBE(0, 6) / 2 ** 48;
}

/** JSONata's own formatter, fed with the injected time. */
const FORMAT = jsonata('$fromMillis($time, $picture, $zone)');

function formatNow(time: number, picture: unknown, zone: unknown): unknown {
  if (picture === undefined && zone === undefined) return new Date(time).toISOString();
  return FORMAT.evaluate(undefined, { time, picture, zone });
}
