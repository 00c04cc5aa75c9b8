import type { JsonObject, JsonValue } from '../../../lambdas/core/json.ts';
import type { Fault } from '../errors.ts';
import { compileExpression, type Expression, type ExpressionDeps } from '../expression.ts';
import { compileTemplate, expressionSource, type Template } from '../template.ts';

/** Collects faults and shares compiled expressions while one definition is loaded. */
export interface Reader {
  readonly faults: Fault[];
  readonly deps: ExpressionDeps;
  readonly expressions: Map<string, Expression>;
  /** Names of states that could not be read at all. */
  readonly refused: Set<string>;
}

/** Which of `$states`'s conditional fields a place may read. */
export interface Reads {
  readonly result?: boolean;
  readonly errorOutput?: boolean;
}

const JSONPATH_FIELDS = new Set([
  'InputPath',
  'OutputPath',
  'Parameters',
  'Result',
  'ResultPath',
  'ResultSelector',
  'ItemsPath',
  'Iterator',
  'Variable',
  'SecondsPath',
  'TimestampPath',
  'TimeoutSecondsPath',
  'HeartbeatSecondsPath',
  'MaxConcurrencyPath',
  'ToleratedFailureCountPath',
  'ToleratedFailurePercentagePath',
  'ErrorPath',
  'CausePath',
]);

export function fault(reader: Reader, path: string, message: string): void {
  reader.faults.push({ path, message });
}

/** Reports each field of `object` that is not in `allowed`. */
export function refuseUnknown(
  reader: Reader,
  object: JsonObject,
  allowed: ReadonlySet<string>,
  path: string,
  what: string,
): void {
  for (const key of Object.keys(object)) {
    if (allowed.has(key)) continue;
    const why = JSONPATH_FIELDS.has(key)
      ? `'${key}' belongs to JSONPath, which is not supported; use JSONata`
      : `'${key}' is not supported in ${what}; supported: ${[...allowed].join(', ')}`;
    fault(reader, `${path}.${key}`, why);
  }
}

/** A constant string, or undefined with a fault when it is there and is none (or is needed and missing). */
export function readString(
  reader: Reader,
  object: JsonObject,
  key: string,
  path: string,
  needed = false,
): string | undefined {
  const value = object[key];
  if (value === undefined) {
    if (needed) fault(reader, `${path}.${key}`, `'${key}' is missing`);
    return undefined;
  }
  if (typeof value !== 'string' || value === '') {
    fault(reader, `${path}.${key}`, `'${key}' must be a non-empty string`);
    return undefined;
  }
  if (expressionSource(value) !== undefined) {
    fault(reader, `${path}.${key}`, `'${key}' is a constant; it takes no expression`);
    return undefined;
  }
  return value;
}

/** A constant number in a range; `fallback` when it is absent. */
export function readNumber<F extends number | undefined>(
  reader: Reader,
  object: JsonObject,
  key: string,
  path: string,
  range: { readonly min: number; readonly max: number; readonly integer: boolean; readonly fallback: F },
): number | F {
  const value = object[key];
  if (value === undefined) return range.fallback;
  const kind = range.integer ? 'an integer' : 'a number';
  if (
    typeof value !== 'number' ||
    value < range.min ||
    value > range.max ||
    (range.integer && !Number.isInteger(value))
  ) {
    const hint = typeof value === 'string' ? '; it takes no expression' : '';
    fault(reader, `${path}.${key}`, `'${key}' must be ${kind} from ${range.min} to ${range.max}${hint}`);
    return range.fallback;
  }
  return value;
}

/** Compiles a field that may hold expressions; undefined when it is absent. */
export function readTemplate(
  reader: Reader,
  value: JsonValue | undefined,
  path: string,
  location: string,
  reads: Reads = {},
): Template | undefined {
  if (value === undefined) return undefined;
  const half = halfExpression(value);
  if (half !== undefined) {
    fault(reader, path, `'${half}' begins with '{%' but does not end with '%}'`);
    return undefined;
  }
  return compileTemplate(value, location, (source, at) => {
    const expression = compile(reader, source, `${path}${at.slice(location.length).replaceAll('/', '.')}`);
    if (expression !== undefined) checkReads(reader, expression, path, reads);
    return expression;
  });
}

/** A string that was meant as an expression. */
function halfExpression(value: JsonValue): string | undefined {
  if (typeof value === 'string') {
    return value.startsWith('{%') && expressionSource(value) === undefined ? value : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const item of Object.values(value)) {
    const half = halfExpression(item);
    if (half !== undefined) return half;
  }
  return undefined;
}

function compile(reader: Reader, source: string, path: string): Expression | undefined {
  const known = reader.expressions.get(source);
  if (known !== undefined) return known;
  try {
    const expression = compileExpression(source, reader.deps);
    reader.expressions.set(source, expression);
    return expression;
  } catch (error) {
    const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
    fault(reader, path, `'${source}' is not a JSONata 2.0.6 expression: ${String(message)}`);
    return undefined;
  }
}

function checkReads(reader: Reader, expression: Expression, path: string, reads: Reads): void {
  for (const field of expression.statesFields) {
    if (field === 'input' || field === 'context') continue;
    if (field === 'result') {
      if (!reads.result) {
        fault(
          reader,
          path,
          "'$states.result' can only be read in Assign and Output of Task, Parallel and Map",
        );
      }
    } else if (field === 'errorOutput') {
      if (!reads.errorOutput) {
        fault(reader, path, "'$states.errorOutput' can only be read in Assign and Output of a Catch");
      }
    } else {
      fault(reader, path, `'$states.${field}' does not exist; there are input, result, errorOutput, context`);
    }
  }
}
