import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_JSON_DEPTH, parseStrictJson } from '../../../lambdas/core/strict-json.ts';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const MEBIBYTE = 1024 * 1024;

describe('parseStrictJson', () => {
  it.each([
    ['an empty text', '', '$', 'must not be empty'],
    ['white space', ' \n ', '$', 'must not be empty'],
    ['no JSON', '{bad', '$', 'must be JSON'],
    ['text behind the value', '{} {}', '$', 'must be JSON'],
    ['a byte order mark', '\uFEFF{}', '$', 'byte order mark'],
    ['a duplicate key', '{"a":1,"b":2,"a":3}', '$.a', 'must not be given twice'],
    ['a duplicate key in other spelling', '{"a":1,"\\u0061":2}', '$.a', 'must not be given twice'],
    ['a duplicate key inside', '{"a":[{"x":1},{"y":1,"y":2}]}', '$.a[1].y', 'must not be given twice'],
    ['__proto__', '{"a":{"__proto__":{"b":1}}}', '$.a.__proto__', '__proto__'],
    ['__proto__ in other spelling', '{"\\u005f_proto__":1}', '$.__proto__', '__proto__'],
    ['a raw lone surrogate', '{"a":"\uD800"}', '$', 'lone surrogate'],
    ['an escaped lone surrogate', '{"a":["ok","\\uDC00"]}', '$.a[1]', 'lone surrogate'],
    ['an escaped lone surrogate in a key', '{"\\uD800":1}', '$[?]', 'lone surrogate'],
    ['2^53', '{"a":9007199254740992}', '$.a', '2^53'],
    ['a negative number beyond 2^53', '[-9007199254740993]', '$[0]', '2^53'],
    ['2^53 with a fraction of zero', '[9007199254740993.0]', '$[0]', '2^53'],
    ['a number that overflows', '{"a":{"b":1e400}}', '$.a.b', '64-bit float'],
    ['deep nesting', nested(MAX_JSON_DEPTH + 1), '$[0]', `${MAX_JSON_DEPTH} levels`],
    ['nesting that fills the limit of a message', nested(MEBIBYTE / 2), '$[0]', 'levels'],
  ])('refuses %s and says where', (_what, text, path, rule) => {
    const result = parseStrictJson(text);

    expect(result).toMatchObject({ ok: false, fault: { rule: expect.stringContaining(rule) } });
    expect(result.ok || result.fault.path.startsWith(path)).toBe(true);
  });

  it.each([
    ['the largest whole number', '9007199254740991'],
    ['a fraction', '0.1'],
    ['a surrogate pair', '"\\uD83D\\uDE00"'],
    ['the same key in two objects', '[{"a":1},{"a":2}]'],
    ['a key of an object that is a value elsewhere', '{"a":"b","b":"a"}'],
    ['a key with a quote', '{"a\\"b":{"\\\\":1}}'],
    ['structure inside text', '{"a":"{\\"a\\":[1e999,","b":"]}"}'],
    ['the greatest depth', nested(MAX_JSON_DEPTH)],
    ['a megabyte of text', JSON.stringify('x'.repeat(MEBIBYTE))],
    ['a megabyte of escapes', JSON.stringify('"\\'.repeat(MEBIBYTE / 4))],
    ['a hundred thousand numbers', JSON.stringify(Array.from({ length: 100_000 }, (_, index) => index))],
  ])('takes %s as JSON.parse does', (_what, text) => {
    expect(parseStrictJson(text)).toEqual({ ok: true, value: JSON.parse(text) });
  });

  it('gives what JSON.parse gives for every text that JSON.stringify writes', () => {
    const value = fc
      .jsonValue({ maxDepth: 8 })
      .filter((candidate) => !/__proto__/.test(JSON.stringify(candidate)));
    fc.assert(
      fc.property(value, (sent) => {
        const text = JSON.stringify(sent);
        const result = parseStrictJson(text);
        // Text with a lone surrogate and whole numbers beyond 2^53 are refused, and nothing else is.
        if (result.ok) expect(result.value).toEqual(JSON.parse(text));
        else expect(result.fault.rule).toMatch(/surrogate|2\^53/);
      }),
    );
  });

  it('never throws and never repeats a value, whatever the text', () => {
    const canary = 'CANARY-4711';
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '1e999',
      '"a"',
      `"${canary}"`,
      ' ',
      '-',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const result = parseStrictJson(pieces.join(''));
        if (!result.ok) expect(`${result.fault.path} ${result.fault.rule}`).not.toContain(canary);
      }),
    );
  });
});
