import { readFileSync } from 'node:fs';
import { DEFAULT_ATTEMPTS } from '../lambdas/core/execution.ts';
import type { JsonObject, JsonValue } from '../lambdas/core/json.ts';

/** Where the definition lies: one file for synthesis, local runs and tests. */
const DEFINITION_FILE = new URL('./worker.asl.json', import.meta.url);

/** Numbers that the definition is given. Substitution can only put strings into a definition. */
export interface DefinitionNumbers {
  /** The machine's own time-out. @default 604800 (7 days) */
  readonly executionTimeoutSeconds: number;
  /** Seconds that an inbox row outlives its final status. */
  readonly inboxTtlSeconds: number;
  /** Plan's and Commit's task time-out: above the function's own, so that Lambda's answer comes first. */
  readonly planTimeoutSeconds: number;
  readonly commitTimeoutSeconds: number;
  readonly runEffectTimeoutSeconds: number;
  /** How long an effect in doubt waits for a person before RunEffect looks again. */
  readonly resolutionTimeoutSeconds: number;
}

/** Rounds of Commit against Plan: at once up to the first number, given up after the second. */
const FREE_ROUNDS = 3;
const MAX_ROUNDS = 10;
const DAY_SECONDS = 24 * 60 * 60;

const DEFAULT_EXECUTION_TIMEOUT_SECONDS = 7 * DAY_SECONDS;

/**
 * Seconds that an inbox row outlives its final status: the longer of the retention and the 90 days for which a
 * closed execution's name is taken, and on top the machine's time-out, the queue's longest retention (14 days) and
 * 2 days for everything that is late.
 */
export const inboxTtlSeconds = (retentionDays: number, executionTimeoutSeconds: number): number =>
  Math.max(retentionDays, 90) * DAY_SECONDS + executionTimeoutSeconds + 16 * DAY_SECONDS;

export const DEFAULT_NUMBERS: DefinitionNumbers = {
  executionTimeoutSeconds: DEFAULT_EXECUTION_TIMEOUT_SECONDS,
  inboxTtlSeconds: inboxTtlSeconds(90, DEFAULT_EXECUTION_TIMEOUT_SECONDS),
  planTimeoutSeconds: 60,
  commitTimeoutSeconds: 60,
  runEffectTimeoutSeconds: 330,
  resolutionTimeoutSeconds: DAY_SECONDS,
};

/** Placeholder of a provider's function. */
export const providerPlaceholder = (provider: string): string => `RunEffect${provider}FunctionArn`;

export interface RenderOptions {
  readonly numbers?: Partial<DefinitionNumbers>;
  /** Names of the effect providers, each with a function of its own. `[A-Za-z][A-Za-z0-9]*` */
  readonly providers?: readonly string[];
}

/**
 * The definition with its numbers set and `${…}` placeholders left for ARNs and names. Numbers inside expressions
 * stand in the file as `$config_<name>`, which keeps every expression valid before it is rendered.
 * @param source text of `worker.asl.json`
 */
export function renderDefinition(
  options: RenderOptions = {},
  source = readFileSync(DEFINITION_FILE, 'utf8'),
): JsonObject {
  const numbers = { ...DEFAULT_NUMBERS, ...options.numbers };
  const providers = (options.providers ?? []).map(
    (provider) => `'${provider}': '\${${providerPlaceholder(provider)}}'`,
  );
  const texts: Readonly<Record<string, string>> = {
    inboxTtlSeconds: String(numbers.inboxTtlSeconds),
    resolutionTtlSeconds: String(numbers.resolutionTimeoutSeconds + DAY_SECONDS),
    freeRounds: String(FREE_ROUNDS),
    maxRounds: String(MAX_ROUNDS),
    maxBusinessAttempts: String(DEFAULT_ATTEMPTS.maxBusinessAttempts),
    baseSeconds: String(DEFAULT_ATTEMPTS.baseSeconds),
    capSeconds: String(DEFAULT_ATTEMPTS.capSeconds),
    providerFunctions: `{${providers.join(', ')}}`,
  };
  const timeouts: Readonly<Record<string, number>> = {
    Plan: numbers.planTimeoutSeconds,
    Commit: numbers.commitTimeoutSeconds,
    RunEffect: numbers.runEffectTimeoutSeconds,
    AwaitResolution: numbers.resolutionTimeoutSeconds,
  };
  const definition: JsonObject = JSON.parse(source);
  const rendered = mapTexts(definition, (text) =>
    text.replace(/\$config_(\w+)/g, (whole, name: string) => texts[name] ?? whole),
  );
  return {
    ...asObject(withTimeouts(rendered, timeouts)),
    TimeoutSeconds: numbers.executionTimeoutSeconds,
  };
}

/**
 * Puts values in place of the `${…}` placeholders, as CloudFormation does on deployment.
 * @throws Error naming a placeholder that has no value.
 */
export function substitute(definition: JsonObject, values: Readonly<Record<string, string>>): JsonObject {
  return asObject(
    mapTexts(definition, (text) =>
      text.replace(/\$\{(\w+)\}/g, (_whole, name: string) => {
        const value = values[name];
        if (value === undefined) throw new Error(`The definition's placeholder ${name} has no value`);
        return value;
      }),
    ),
  );
}

function mapTexts(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === 'string') return change(value);
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) return value.map((entry) => mapTexts(entry, change));
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, mapTexts(entry, change)]));
}

/** States are found by name at every depth: names are unique in a definition. */
function withTimeouts(value: JsonValue, timeouts: Readonly<Record<string, number>>): JsonValue {
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) return value.map((entry) => withTimeouts(entry, timeouts));
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => {
      const inner = withTimeouts(entry, timeouts);
      const seconds = timeouts[key];
      return seconds !== undefined && isRecord(inner) && 'TimeoutSeconds' in inner
        ? [key, { ...inner, TimeoutSeconds: seconds }]
        : [key, inner];
    }),
  );
}

function asObject(value: JsonValue): JsonObject {
  if (!isRecord(value)) throw new TypeError('A state machine definition is an object');
  return value;
}

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);
const isRecord = (value: JsonValue): value is JsonObject =>
  value !== null && typeof value === 'object' && !isList(value);
