import type { JsonValue } from '../../lambdas/core/json.ts';

/**
 * Compares a value with a recorded one in which masks stand for anything; the same numbered mask must stand for the
 * same text everywhere.
 * @returns where they differ, or undefined when they agree
 */
export function mismatch(
  expected: JsonValue,
  actual: JsonValue | undefined,
  masks: readonly string[],
): string | undefined {
  const numbered = masks.filter((mask) => mask.startsWith('<'));
  const whole = new Set(masks);
  const bound = new Map<string, string>();

  function compare(want: JsonValue | undefined, have: JsonValue | undefined, at: string): string | undefined {
    if (typeof want === 'string') return compareText(want, have, at);
    if (typeof want !== 'object' || want === null) {
      return Object.is(want, have) ? undefined : difference(want, have, at);
    }
    if (typeof have !== 'object' || have === null || Array.isArray(want) !== Array.isArray(have)) {
      return difference(want, have, at);
    }
    const wanted = new Map<string, JsonValue>(Object.entries(want));
    const found = new Map<string, JsonValue>(Object.entries(have));
    for (const key of new Set([...wanted.keys(), ...found.keys()])) {
      const inner = compare(wanted.get(key), found.get(key), `${at}/${key}`);
      if (inner !== undefined) return inner;
    }
    return undefined;
  }

  function compareText(want: string, have: JsonValue | undefined, at: string): string | undefined {
    // A mask may stand for something that is no text, such as a date's parts.
    if (whole.has(want) && !numbered.includes(want))
      return have === undefined ? difference(want, have, at) : undefined;
    if (want === have) return undefined;
    if (typeof have !== 'string') return difference(want, have, at);
    const names: string[] = [];
    const pattern = want
      .split(/(<[a-z]+:\d+>)/)
      .map((part) => {
        if (!numbered.includes(part)) return part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
        names.push(part);
        return '([\\w-]+)';
      })
      .join('');
    const match = new RegExp(`^${pattern}$`).exec(have);
    if (match === null) return difference(want, have, at);
    for (const [index, name] of names.entries()) {
      const value = match[index + 1] ?? '';
      if ((bound.get(name) ?? value) !== value) return difference(want, have, at);
      bound.set(name, value);
    }
    return undefined;
  }

  return compare(expected, actual, '$');
}

function difference(want: JsonValue | undefined, have: JsonValue | undefined, at: string): string {
  return `${at}: recorded ${JSON.stringify(want)}, but was ${JSON.stringify(have)}`;
}
