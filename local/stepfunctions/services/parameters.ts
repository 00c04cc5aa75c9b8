import type { JsonObject, JsonValue } from '../../../lambdas/core/json.ts';
import { isJsonList, isJsonObject } from '../../edge/json.ts';

import { StateError } from '../errors.ts';

/** Reads the parameters of one call; refuses those it was not asked for. */
export interface Parameters {
  string(key: string): string | undefined;
  boolean(key: string): boolean | undefined;
  integer(key: string): number | undefined;
  choice<T extends string>(key: string, choices: readonly T[]): T | undefined;
  /** A member of any kind, read by `read`. */
  member<T>(key: string, read: (value: JsonValue, path: string) => T): T | undefined;
  list<T>(key: string, read: (value: JsonValue, path: string) => T): T[] | undefined;
  record<T>(key: string, read: (value: JsonValue, path: string) => T): Record<string, T> | undefined;
  /** Fails when a parameter was given that nothing has read. */
  done(): void;
}

/** @throws StateError `States.Runtime`, as the service does for parameters that it can't pass on */
export function readParameters(value: JsonValue, path = '$'): Parameters {
  if (!isJsonObject(value)) throw unusable(`The value for the field '${path}' must be an object`);
  const object: JsonObject = value;
  const read = new Set<string>();

  function take(key: string): JsonValue | undefined {
    read.add(key);
    return object[key];
  }
  function typed<T>(key: string, what: string, narrow: (found: JsonValue) => T | undefined): T | undefined {
    const found = take(key);
    if (found === undefined || found === null) return undefined;
    const narrowed = narrow(found);
    if (narrowed === undefined) throw unusable(`The value for the field '${path}.${key}' must be ${what}`);
    return narrowed;
  }

  return {
    string: (key) => typed(key, 'a string', asString),
    boolean: (key) => typed(key, 'a boolean', (found) => (typeof found === 'boolean' ? found : undefined)),
    integer: (key) => typed(key, 'an integer', (found) => (typeof found === 'number' ? found : undefined)),
    choice: (key, choices) =>
      typed(key, `one of ${choices.join(', ')}`, (found) => choices.find((choice) => choice === found)),
    member: (key, readMember) => {
      const found = take(key);
      return found === undefined || found === null ? undefined : readMember(found, `${path}.${key}`);
    },
    list: (key, readItem) =>
      typed(key, 'an array', (found) => (isJsonList(found) ? found : undefined))?.map((item, index) =>
        readItem(item, `${path}.${key}[${index}]`),
      ),
    record: (key, readItem) => {
      const found = typed(key, 'an object', (candidate) => (isJsonObject(candidate) ? candidate : undefined));
      if (found === undefined) return undefined;
      return Object.fromEntries(
        Object.entries(found).map(([name, item]) => [name, readItem(item, `${path}.${key}.${name}`)]),
      );
    },
    done() {
      for (const key of Object.keys(object)) {
        if (!read.has(key))
          throw unusable(`The field '${key}' at '${path}' is not supported by this runtime`);
      }
    },
  };
}

export function requireText(value: JsonValue, path: string): string {
  if (typeof value !== 'string') throw unusable(`The value for the field '${path}' must be a string`);
  return value;
}

export function unusable(reason: string): StateError {
  return new StateError('States.Runtime', `The Arguments could not be used to start the Task: [${reason}]`);
}

function asString(value: JsonValue): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
