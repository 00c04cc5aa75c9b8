import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const ROOT = new URL('../..', import.meta.url).pathname;

/** Source files that a module reaches by relative imports, itself included. */
function reachable(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file) || !existsSync(file)) return seen;
  seen.add(file);
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)'/g)) {
    reachable(resolve(dirname(file), path), seen);
  }
  return seen;
}

/** A call that is written somewhere in the code, and the functions whose bundles hold it. */
export interface WrittenCall {
  readonly file: string;
  readonly operation: string;
  readonly functions: readonly string[];
}

const CALLS = /new (\w+)Command\(/g;

/** Every call in the sources of the given functions. */
export function writtenCalls(functions: readonly string[]): readonly WrittenCall[] {
  const calls = new Map<string, { file: string; operation: string; functions: string[] }>();
  for (const name of functions) {
    for (const file of reachable(resolve(ROOT, 'lambdas', name, 'index.ts'))) {
      for (const [, operation = ''] of readFileSync(file, 'utf8').matchAll(CALLS)) {
        const key = `${file} ${operation}`;
        const known = calls.get(key) ?? { file: file.slice(ROOT.length), operation, functions: [] };
        known.functions.push(name);
        calls.set(key, known);
      }
    }
  }
  return [...calls.values()];
}

/** Names that the functions' sources throw for the state machine to route by. */
export function thrownByName(functions: readonly string[]): readonly string[] {
  const names = new Set<string>();
  for (const name of functions) {
    for (const file of reachable(resolve(ROOT, 'lambdas', name, 'index.ts'))) {
      for (const [, error = ''] of readFileSync(file, 'utf8').matchAll(/new RoutedError\(\s*'(\w+)'/g)) {
        names.add(error);
      }
    }
  }
  return [...names];
}
