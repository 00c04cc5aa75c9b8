/** One filter pattern; a record passes when it matches any pattern of a list. */
export interface FilterPattern {
  readonly [key: string]: FilterPattern | readonly FilterRule[];
}

/** A value to equal, or a comparison: `prefix`, `exists` or `anything-but`. */
export type FilterRule =
  | string
  | number
  | boolean
  | null
  | { readonly prefix: string }
  | { readonly exists: boolean }
  | { readonly 'anything-but': readonly (string | number)[] | { readonly prefix: string } };

type Matcher = (value: unknown) => boolean;

/**
 * Makes a predicate of Lambda's filter patterns for stream records; without patterns everything passes.
 *
 * @throws Error for a comparison that is not supported, with the path to it.
 */
export function createStreamFilter(patterns: readonly FilterPattern[] = []): (record: unknown) => boolean {
  const matchers = patterns.map((pattern) => objectMatcher(pattern, '$'));
  return (record) => matchers.length === 0 || matchers.some((matches) => matches(record));
}

function objectMatcher(pattern: FilterPattern, path: string): Matcher {
  const fields = Object.entries(pattern).map(([key, rules]) => {
    const where = `${path}.${key}`;
    return [key, isRules(rules) ? anyOf(rules, where) : objectMatcher(rules, where)] as const;
  });
  return (value) => fields.every(([key, matches]) => matches(field(value, key)));
}

function field(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return Reflect.get(value, key);
}

function isRules(rules: FilterPattern | readonly FilterRule[]): rules is readonly FilterRule[] {
  return Array.isArray(rules);
}

function anyOf(rules: readonly FilterRule[], path: string): Matcher {
  if (rules.length === 0) throw new Error(`filter pattern: the list at ${path} is empty and matches nothing`);
  const matchers = rules.map((rule) => ruleMatcher(rule, path));
  return (value) => matchers.some((matches) => matches(value));
}

function ruleMatcher(rule: FilterRule, path: string): Matcher {
  if (typeof rule !== 'object' || rule === null) return (value) => value === rule;
  if ('prefix' in rule) return startsWith(rule.prefix);
  // The service compares leaves only: an object in the place of a leaf doesn't exist for it.
  if ('exists' in rule) return (value) => (value !== undefined && typeof value !== 'object') === rule.exists;
  if ('anything-but' in rule) {
    const excluded = rule['anything-but'];
    const isExcluded: Matcher =
      'prefix' in excluded
        ? startsWith(excluded.prefix)
        : (value) => excluded.some((candidate) => candidate === value);
    return (value) => value !== undefined && typeof value !== 'object' && !isExcluded(value);
  }
  throw new Error(
    `filter pattern: ${JSON.stringify(rule)} at ${path} is not supported here; use equality, prefix, exists or anything-but`,
  );
}

function startsWith(prefix: string): Matcher {
  return (value) => typeof value === 'string' && value.startsWith(prefix);
}
