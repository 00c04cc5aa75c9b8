import type { JsonObject, JsonValue } from '../../../lambdas/core/json.ts';
import { isJsonList, isJsonObject } from '../../edge/json.ts';
import { MAX_SECONDS } from '../limits.ts';
import type { Template } from '../template.ts';
import { parseTimestamp } from '../timestamp.ts';
import { readAssign } from './assign.ts';
import { checkParameters, readIntegration } from './integration.ts';
import { fault, type Reader, readString, readTemplate, refuseUnknown } from './reader.ts';
import { readCatch, readRetry } from './retry-catch.ts';
import type { ChoiceRule, MapState, Sequence, State } from './types.ts';

const COMMON = ['Type', 'Comment', 'QueryLanguage'] as const;
const FLOW = ['Output', 'Assign', 'Next', 'End'] as const;
const FIELDS = {
  Pass: new Set([...COMMON, ...FLOW]),
  Succeed: new Set([...COMMON, 'Output']),
  Fail: new Set([...COMMON, 'Error', 'Cause']),
  Wait: new Set([...COMMON, ...FLOW, 'Seconds', 'Timestamp']),
  Choice: new Set([...COMMON, 'Output', 'Assign', 'Choices', 'Default']),
  Task: new Set([
    ...COMMON,
    ...FLOW,
    'Resource',
    'Arguments',
    'TimeoutSeconds',
    'HeartbeatSeconds',
    'Retry',
    'Catch',
  ]),
  Parallel: new Set([...COMMON, ...FLOW, 'Branches', 'Arguments', 'Retry', 'Catch']),
  Map: new Set([
    ...COMMON,
    ...FLOW,
    'Items',
    'ItemSelector',
    'ItemProcessor',
    'MaxConcurrency',
    'ToleratedFailureCount',
    'ToleratedFailurePercentage',
    'Retry',
    'Catch',
  ]),
} satisfies Record<State['type'], Set<string>>;
const RULE_FIELDS = new Set(['Condition', 'Next', 'Assign', 'Output', 'Comment']);
const PROCESSOR_CONFIG_FIELDS = new Set(['Mode']);
const TASK_RESULT = { result: true };

/** Reads nested states; handed in, because branches hold states and states hold branches. */
export type ReadSequence = (
  value: JsonValue | undefined,
  path: string,
  language: string,
  extraFields: readonly string[],
) => Sequence | undefined;

/** Compiles one state; reports everything in it that this runtime does not run. */
export function loadState(
  reader: Reader,
  name: string,
  source: JsonObject,
  path: string,
  outerLanguage: string,
  readSequence: ReadSequence,
): State | undefined {
  const type = readString(reader, source, 'Type', path, true);
  if (type === undefined) return undefined;
  if (!isStateType(type)) {
    fault(
      reader,
      `${path}.Type`,
      `'${type}' is not a state type; there are ${Object.keys(FIELDS).join(', ')}`,
    );
    return undefined;
  }
  const language = readString(reader, source, 'QueryLanguage', path) ?? outerLanguage;
  if (language !== 'JSONata') {
    fault(reader, path, `the query language ${language} is not supported; set "QueryLanguage": "JSONata"`);
    return undefined;
  }
  refuseUnknown(reader, source, FIELDS[type], path, `a ${type} state`);
  const reads = type === 'Task' || type === 'Parallel' || type === 'Map' ? TASK_RESULT : {};
  const common = {
    name,
    assign: readAssign(reader, source.Assign, `${path}.Assign`, 'Assign', reads),
    output: readTemplate(reader, source.Output, `${path}.Output`, 'Output', reads),
    next: FIELDS[type].has('End') ? readTransition(reader, source, path) : undefined,
  };
  const template = (key: string): Template | undefined =>
    readTemplate(reader, source[key], `${path}.${key}`, key);
  switch (type) {
    case 'Pass':
    case 'Succeed':
      return { type, ...common };
    case 'Fail':
      return { type, ...common, error: template('Error'), cause: template('Cause') };
    case 'Wait':
      if ((source.Seconds === undefined) === (source.Timestamp === undefined)) {
        fault(reader, path, "a Wait state needs exactly one of 'Seconds' and 'Timestamp'");
      }
      checkSeconds(reader, source, 'Seconds', path, 0);
      checkTimestamp(reader, source, path);
      return { type, ...common, seconds: template('Seconds'), timestamp: template('Timestamp') };
    case 'Choice':
      return {
        type,
        ...common,
        choices: readChoices(reader, source, path),
        default: readString(reader, source, 'Default', path),
      };
    case 'Task': {
      const resource = readString(reader, source, 'Resource', path, true);
      const integration =
        resource === undefined ? undefined : readIntegration(reader, resource, `${path}.Resource`);
      checkSeconds(reader, source, 'TimeoutSeconds', path, 1);
      checkSeconds(reader, source, 'HeartbeatSeconds', path, 1);
      checkHeartbeat(reader, source, path);
      if (integration === undefined) return undefined;
      checkParameters(reader, integration, source.Arguments, `${path}.Arguments`);
      return {
        type,
        ...common,
        integration,
        arguments: template('Arguments'),
        timeoutSeconds: template('TimeoutSeconds'),
        heartbeatSeconds: template('HeartbeatSeconds'),
        retry: readRetry(reader, source, path),
        catch: readCatch(reader, source, path),
      };
    }
    case 'Parallel': {
      const list = source.Branches;
      if (list === undefined || !isJsonList(list) || list.length === 0) {
        fault(reader, `${path}.Branches`, "'Branches' must be a non-empty array");
        return undefined;
      }
      const branches = list.flatMap((branch, index) => {
        const sequence = readSequence(branch, `${path}.Branches[${index}]`, language, []);
        return sequence === undefined ? [] : [sequence];
      });
      return {
        type,
        ...common,
        branches,
        arguments: template('Arguments'),
        retry: readRetry(reader, source, path),
        catch: readCatch(reader, source, path),
      };
    }
    case 'Map': {
      const processor = readProcessor(reader, source, path, language, readSequence);
      if (processor === undefined) return undefined;
      return {
        type,
        ...common,
        processor,
        items: template('Items'),
        itemSelector: template('ItemSelector'),
        maxConcurrency: template('MaxConcurrency'),
        toleratedFailureCount: template('ToleratedFailureCount'),
        toleratedFailurePercentage: template('ToleratedFailurePercentage'),
        retry: readRetry(reader, source, path),
        catch: readCatch(reader, source, path),
      } satisfies MapState;
    }
  }
}

function isStateType(type: string): type is State['type'] {
  return Object.hasOwn(FIELDS, type);
}

function readTransition(reader: Reader, source: JsonObject, path: string): string | undefined {
  const next = readString(reader, source, 'Next', path);
  const { End: end } = source;
  if (end !== undefined && typeof end !== 'boolean') fault(reader, `${path}.End`, "'End' must be a boolean");
  if ((source.Next !== undefined) === (end === true)) {
    fault(reader, path, "a state needs exactly one of 'Next' and '\"End\": true'");
  }
  return next;
}

function readChoices(reader: Reader, source: JsonObject, path: string): readonly ChoiceRule[] {
  const list = source.Choices;
  if (list === undefined || !isJsonList(list) || list.length === 0) {
    fault(reader, `${path}.Choices`, "'Choices' must be a non-empty array");
    return [];
  }
  return list.flatMap((rule, index): ChoiceRule[] => {
    const at = `${path}.Choices[${index}]`;
    if (!isJsonObject(rule)) {
      fault(reader, at, 'must be an object');
      return [];
    }
    refuseUnknown(reader, rule, RULE_FIELDS, at, 'a choice rule');
    const location = `Choices[${index}]/Condition`;
    const condition = readTemplate(reader, rule.Condition, `${at}.Condition`, location);
    if (rule.Condition === undefined) fault(reader, `${at}.Condition`, "'Condition' is missing");
    if (condition?.kind === 'literal' && typeof condition.value !== 'boolean') {
      fault(reader, `${at}.Condition`, "'Condition' must be an expression or a boolean");
    }
    const next = readString(reader, rule, 'Next', at, true);
    if (condition === undefined || next === undefined) return [];
    return [
      {
        condition,
        location,
        next,
        assign: readAssign(reader, rule.Assign, `${at}.Assign`, `Choices[${index}]/Assign`),
        output: readTemplate(reader, rule.Output, `${at}.Output`, `Choices[${index}]/Output`),
      },
    ];
  });
}

function readProcessor(
  reader: Reader,
  source: JsonObject,
  path: string,
  language: string,
  readSequence: ReadSequence,
): Sequence | undefined {
  const at = `${path}.ItemProcessor`;
  const processor = source.ItemProcessor;
  if (!isJsonObject(processor)) {
    fault(reader, at, "'ItemProcessor' must be an object");
    return undefined;
  }
  const config = processor.ProcessorConfig;
  if (config !== undefined) {
    if (!isJsonObject(config)) fault(reader, `${at}.ProcessorConfig`, 'must be an object');
    else {
      refuseUnknown(reader, config, PROCESSOR_CONFIG_FIELDS, `${at}.ProcessorConfig`, 'an inline Map');
      if (config.Mode !== undefined && config.Mode !== 'INLINE') {
        fault(reader, `${at}.ProcessorConfig.Mode`, 'only INLINE is supported; Distributed Map is not');
      }
    }
  }
  return readSequence(processor, at, language, ['ProcessorConfig']);
}

/** A constant number of seconds is checked when the definition is loaded; an expression, when it is evaluated. */
function checkSeconds(reader: Reader, source: JsonObject, key: string, path: string, min: number): void {
  const value = source[key];
  if (typeof value !== 'number') {
    if (value !== undefined && typeof value !== 'string') fault(reader, `${path}.${key}`, 'must be a number');
    return;
  }
  if (!Number.isInteger(value) || value < min || value > MAX_SECONDS) {
    fault(reader, `${path}.${key}`, `'${key}' must be an integer from ${min} to ${MAX_SECONDS}`);
  }
}

function checkTimestamp(reader: Reader, source: JsonObject, path: string): void {
  const value = source.Timestamp;
  if (value === undefined || (typeof value === 'string' && value.startsWith('{%'))) return;
  if (typeof value !== 'string' || parseTimestamp(value) === undefined) {
    fault(
      reader,
      `${path}.Timestamp`,
      "'Timestamp' must be an ISO 8601 date and time with 'T' and an offset",
    );
  }
}

function checkHeartbeat(reader: Reader, source: JsonObject, path: string): void {
  const { TimeoutSeconds: timeout, HeartbeatSeconds: heartbeat } = source;
  if (typeof timeout === 'number' && typeof heartbeat === 'number' && heartbeat >= timeout) {
    fault(reader, `${path}.HeartbeatSeconds`, "'HeartbeatSeconds' must be less than 'TimeoutSeconds'");
  }
}
