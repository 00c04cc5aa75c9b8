import type { JsonObject, JsonValue } from '../../../lambdas/core/json.ts';
import { parseStrictJson } from '../../../lambdas/core/strict-json.ts';
import { isJsonObject } from '../../edge/json.ts';
import { InvalidDefinitionError } from '../errors.ts';
import type { ExpressionDeps } from '../expression.ts';
import { MAX_SECONDS } from '../limits.ts';
import { checkDefinition } from './check.ts';
import { loadState } from './load-state.ts';
import { fault, type Reader, readNumber, readString, refuseUnknown } from './reader.ts';
import type { Definition, Sequence, State } from './types.ts';

const MAX_DEFINITION_BYTES = 1_048_576;
const MAX_STATE_NAME = 80;
const MACHINE_FIELDS = new Set([
  'Comment',
  'QueryLanguage',
  'StartAt',
  'States',
  'TimeoutSeconds',
  'Version',
]);

/**
 * Reads and compiles a definition: an object, or its JSON text.
 * @throws InvalidDefinitionError listing everything that the service would refuse or that this runtime can't run.
 */
export function loadDefinition(
  machine: string,
  input: JsonObject | string,
  deps: ExpressionDeps,
): Definition {
  const reader: Reader = { faults: [], deps, expressions: new Map(), refused: new Set() };
  const source = typeof input === 'string' ? parse(reader, input) : input;
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  const definition = source === undefined ? undefined : read(reader, source, text);
  if (definition === undefined || reader.faults.length > 0) {
    throw new InvalidDefinitionError(machine, reader.faults);
  }
  return definition;
}

function parse(reader: Reader, text: string): JsonObject | undefined {
  const parsed = parseStrictJson(text);
  if (!parsed.ok) fault(reader, parsed.fault.path, `the definition ${parsed.fault.rule}`);
  else if (isJsonObject(parsed.value)) return parsed.value;
  else fault(reader, '$', 'the definition must be a JSON object');
  return undefined;
}

function read(reader: Reader, source: JsonObject, text: string): Definition | undefined {
  if (Buffer.byteLength(text) > MAX_DEFINITION_BYTES) {
    fault(reader, '$', `the definition is larger than ${MAX_DEFINITION_BYTES} bytes`);
  }
  refuseUnknown(reader, source, MACHINE_FIELDS, '$', 'a state machine');
  const version = readString(reader, source, 'Version', '$');
  if (version !== undefined && version !== '1.0') fault(reader, '$.Version', "the only version is '1.0'");
  const language = readString(reader, source, 'QueryLanguage', '$') ?? 'JSONPath';
  const timeoutSeconds = readNumber(reader, source, 'TimeoutSeconds', '$', {
    min: 1,
    max: MAX_SECONDS,
    integer: true,
    fallback: undefined,
  });
  const sequence = readStates(reader, source, '$', language);
  if (sequence === undefined) return undefined;
  checkDefinition(reader, sequence);
  return { ...sequence, text, source, timeoutSeconds };
}

function readStates(
  reader: Reader,
  source: JsonObject,
  path: string,
  language: string,
): Sequence | undefined {
  const startAt = readString(reader, source, 'StartAt', path, true);
  const list = source.States;
  if (!isJsonObject(list) || Object.keys(list).length === 0) {
    fault(reader, `${path}.States`, "'States' must be an object with at least one state");
    return undefined;
  }
  const states = new Map<string, State>();
  for (const [name, value] of Object.entries(list)) {
    const at = `${path}.States.${name}`;
    if (name.length > MAX_STATE_NAME) {
      fault(reader, at, `a state's name has at most ${MAX_STATE_NAME} characters`);
    }
    if (!isJsonObject(value)) {
      fault(reader, at, 'a state must be an object');
      reader.refused.add(name);
      continue;
    }
    const state = loadState(reader, name, value, at, language, (nested, nestedPath, nestedLanguage, extra) =>
      readNested(reader, nested, nestedPath, nestedLanguage, extra),
    );
    if (state === undefined) reader.refused.add(name);
    else states.set(name, state);
  }
  return startAt === undefined ? undefined : { startAt, states };
}

function readNested(
  reader: Reader,
  value: JsonValue | undefined,
  path: string,
  language: string,
  extraFields: readonly string[],
): Sequence | undefined {
  if (!isJsonObject(value)) {
    fault(reader, path, 'must be an object with StartAt and States');
    return undefined;
  }
  const allowed = new Set(['StartAt', 'States', 'Comment', ...extraFields]);
  refuseUnknown(reader, value, allowed, path, 'a branch or an item processor');
  return readStates(reader, value, path, language);
}
