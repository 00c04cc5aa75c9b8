import type { JsonObject, JsonValue } from '../../../lambdas/core/json.ts';
import { isJsonList, isJsonObject } from '../../edge/json.ts';
import { MAX_SECONDS } from '../limits.ts';

import { readAssign } from './assign.ts';
import { fault, type Reader, readNumber, readString, readTemplate, refuseUnknown } from './reader.ts';
import type { Catcher, Retrier } from './types.ts';

const RETRY_FIELDS = new Set([
  'ErrorEquals',
  'IntervalSeconds',
  'MaxAttempts',
  'BackoffRate',
  'MaxDelaySeconds',
  'JitterStrategy',
  'Comment',
]);
const CATCH_FIELDS = new Set(['ErrorEquals', 'Next', 'Assign', 'Output', 'Comment']);

export function readRetry(reader: Reader, state: JsonObject, path: string): readonly Retrier[] {
  const items = readList(reader, state.Retry, `${path}.Retry`);
  return items.flatMap((item, index): Retrier[] => {
    const at = `${path}.Retry[${index}]`;
    refuseUnknown(reader, item, RETRY_FIELDS, at, 'a retrier');
    const intervalSeconds = readNumber(reader, item, 'IntervalSeconds', at, {
      min: 1,
      max: MAX_SECONDS,
      integer: true,
      fallback: 1,
    });
    const maxDelaySeconds = readNumber(reader, item, 'MaxDelaySeconds', at, {
      min: 1,
      max: 31_622_400,
      integer: true,
      fallback: undefined,
    });
    if (maxDelaySeconds !== undefined && maxDelaySeconds <= intervalSeconds) {
      fault(reader, `${at}.MaxDelaySeconds`, "'MaxDelaySeconds' must be greater than 'IntervalSeconds'");
    }
    const jitter = readString(reader, item, 'JitterStrategy', at);
    if (jitter !== undefined && jitter !== 'FULL' && jitter !== 'NONE') {
      fault(reader, `${at}.JitterStrategy`, "'JitterStrategy' must be FULL or NONE");
    }
    return [
      {
        errorEquals: readErrors(reader, item, at, index === items.length - 1),
        intervalSeconds,
        maxDelaySeconds,
        maxAttempts: readNumber(reader, item, 'MaxAttempts', at, {
          min: 0,
          max: MAX_SECONDS,
          integer: true,
          fallback: 3,
        }),
        backoffRate: readNumber(reader, item, 'BackoffRate', at, {
          min: 1,
          max: Number.MAX_SAFE_INTEGER,
          integer: false,
          fallback: 2,
        }),
        fullJitter: jitter === 'FULL',
      },
    ];
  });
}

export function readCatch(reader: Reader, state: JsonObject, path: string): readonly Catcher[] {
  const items = readList(reader, state.Catch, `${path}.Catch`);
  return items.flatMap((item, index): Catcher[] => {
    const at = `${path}.Catch[${index}]`;
    refuseUnknown(reader, item, CATCH_FIELDS, at, 'a catcher');
    const reads = { errorOutput: true };
    const errorEquals = readErrors(reader, item, at, index === items.length - 1);
    const assign = readAssign(reader, item.Assign, `${at}.Assign`, `Catch[${index}]/Assign`, reads);
    const output = readTemplate(reader, item.Output, `${at}.Output`, `Catch[${index}]/Output`, reads);
    const next = readString(reader, item, 'Next', at, true);
    return next === undefined ? [] : [{ errorEquals, next, assign, output }];
  });
}

function readList(reader: Reader, value: JsonValue | undefined, path: string): readonly JsonObject[] {
  if (value === undefined) return [];
  if (!isJsonList(value)) {
    fault(reader, path, 'must be an array');
    return [];
  }
  return value.flatMap((item, index) => {
    if (isJsonObject(item)) return [item];
    fault(reader, `${path}[${index}]`, 'must be an object');
    return [];
  });
}

function readErrors(reader: Reader, item: JsonObject, path: string, last: boolean): readonly string[] {
  const at = `${path}.ErrorEquals`;
  const value = item.ErrorEquals;
  if (value === undefined || !isJsonList(value) || value.length === 0) {
    fault(reader, at, "'ErrorEquals' must be a non-empty array of error names");
    return [];
  }
  const names: string[] = [];
  for (const name of value) {
    if (typeof name === 'string') names.push(name);
    else fault(reader, at, 'an error name must be a string');
  }
  if (names.includes('States.ALL') && (names.length > 1 || !last)) {
    fault(reader, at, "'States.ALL' must stand alone and last");
  }
  return names;
}
