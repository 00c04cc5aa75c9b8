import type { JsonValue } from './json.ts';

/** Deepest nesting that a message may have. Far more than data needs, far less than a stack. */
export const MAX_JSON_DEPTH = 64;

/** One thing that is wrong with a text, and where. Never carries the value: it may be personal data. */
export interface JsonFault {
  /** JSON path, `$` for the whole text. */
  readonly path: string;
  readonly rule: string;
}

export type JsonParseResult =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly fault: JsonFault };

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|-?\d[\d.eE+-]*/g;

interface Frame {
  readonly keys: Set<string> | undefined;
  expectsKey: boolean;
  key: string;
  index: number;
}

/**
 * Parses JSON and refuses what `JSON.parse` lets through silently: duplicate keys (the last one would win),
 * `__proto__`, lone surrogates, whole numbers beyond 2^53 and numbers that overflow (both would change),
 * a byte order mark, and nesting beyond {@link MAX_JSON_DEPTH}. Never throws.
 */
export function parseStrictJson(text: string): JsonParseResult {
  if (text.startsWith('\uFEFF')) return fail('$', 'must not begin with a byte order mark');
  if (!text.isWellFormed()) return fail('$', 'must be well-formed Unicode (it holds a lone surrogate)');
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch {
    return fail('$', text.trim() === '' ? 'must not be empty' : 'must be JSON');
  }
  const fault = findFault(text);
  return fault === undefined ? { ok: true, value } : { ok: false, fault };
}

/** Walks the tokens of a text that is known to be valid JSON. */
function findFault(text: string): JsonFault | undefined {
  const stack: Frame[] = [];
  for (const [token] of text.matchAll(TOKEN)) {
    const top = stack.at(-1);
    switch (token[0]) {
      case '{':
      case '[':
        if (stack.length === MAX_JSON_DEPTH) {
          return { path: pathOf(stack), rule: `must not nest deeper than ${MAX_JSON_DEPTH} levels` };
        }
        stack.push({
          keys: token === '{' ? new Set() : undefined,
          expectsKey: token === '{',
          key: '',
          index: 0,
        });
        break;
      case '}':
      case ']':
        stack.pop();
        break;
      case ',':
        if (top?.keys === undefined) {
          if (top !== undefined) top.index += 1;
        } else {
          top.expectsKey = true;
        }
        break;
      case ':':
        break;
      case '"': {
        const rule = top?.keys !== undefined && top.expectsKey ? keyFault(token, top) : stringFault(token);
        if (rule !== undefined) return { path: pathOf(stack), rule };
        break;
      }
      default: {
        const rule = numberFault(token);
        if (rule !== undefined) return { path: pathOf(stack), rule };
      }
    }
  }
  return undefined;
}

function keyFault(token: string, frame: Frame): string | undefined {
  const key: string = JSON.parse(token);
  frame.expectsKey = false;
  frame.key = key;
  if (frame.keys?.has(key)) return 'must not be given twice';
  frame.keys?.add(key);
  if (key === '__proto__') return 'must not be named __proto__';
  return stringFault(token);
}

function stringFault(token: string): string | undefined {
  const escaped = token.includes('\\u');
  return escaped && !JSON.parse(token).isWellFormed()
    ? 'must be well-formed Unicode (it holds a lone surrogate)'
    : undefined;
}

function numberFault(token: string): string | undefined {
  const value = Number(token);
  if (!Number.isFinite(value)) return 'must be a number that a 64-bit float can hold';
  return Number.isInteger(value) && !Number.isSafeInteger(value)
    ? 'must not exceed 2^53 - 1 (send larger whole numbers as strings)'
    : undefined;
}

function pathOf(stack: readonly Frame[]): string {
  let path = '$';
  for (const frame of stack) {
    if (frame.keys === undefined) path += `[${frame.index}]`;
    else if (frame.key !== '') path += /^[A-Za-z_]\w{0,49}$/.test(frame.key) ? `.${frame.key}` : '[?]';
  }
  return path;
}

function fail(path: string, rule: string): JsonParseResult {
  return { ok: false, fault: { path, rule } };
}
