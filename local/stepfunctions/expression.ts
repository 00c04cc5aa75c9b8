import jsonata from 'jsonata';
import type { Clock, NewId, Random } from '../../lambdas/core/clock.ts';
import type { JsonValue } from '../../lambdas/core/json.ts';
import { registerStepFunctionsExtras } from './expression-functions.ts';
import { EXPRESSION_MS } from './limits.ts';

/** What expressions draw on besides their data. */
export interface ExpressionDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
}

/** The variables an expression sees, without their dollar sign. */
export type Bindings = Record<string, unknown>;

/** A compiled expression: parsed once, evaluated many times. */
export interface Expression {
  /** The text between the braces, trimmed. */
  readonly source: string;
  /** The top-level names read from `$states` (`input`, `result`, …). */
  readonly statesFields: ReadonlySet<string>;
  /** @returns the raw result, undefined when the expression yields nothing. Rejects with JSONata's error. */
  evaluate(bindings: Bindings): Promise<unknown>;
}

/** Steps of one evaluation after which it counts as endless; reached long before a loop exhausts the memory. */
const MAX_STEPS = 5_000_000;

/** What has been found of a text that is an expression. Pure, and there are as many as definitions have. */
const readTexts = new Map<string, ReadonlySet<string>>();

/** @throws an error with JSONata's code and message when the text is no expression. */
function readText(source: string): ReadonlySet<string> {
  const known = readTexts.get(source);
  if (known !== undefined) return known;
  const fields = statesFieldsOf(jsonata(source).ast());
  readTexts.set(source, fields);
  return fields;
}

/**
 * Compiles one JSONata expression with Step Functions' function set. The text is checked at once; what it takes to
 * run it is made when it first runs, since most executions pass few of a definition's expressions.
 * @throws an error with JSONata's code and message when the text is no expression.
 */
export function compileExpression(source: string, deps: ExpressionDeps): Expression {
  const mayLoop = /function|λ/.test(source);
  let compiled: ReturnType<typeof jsonata> | undefined;
  const runnable = () => {
    if (compiled === undefined) {
      compiled = jsonata(source);
      registerStepFunctionsExtras(compiled, deps);
      if (mayLoop) installTimeLimit(compiled, deps.clock);
    }
    return compiled;
  };
  return {
    source,
    statesFields: readText(source),
    evaluate: async (bindings) => {
      if (mayLoop) return runnable().evaluate(undefined, { ...bindings, [BUDGET]: newBudget(deps.clock) });
      return runnable().evaluate(undefined, bindings);
    },
  };
}

/** A binding that no expression can name, because of its space. */
const BUDGET = 'time limit';

interface Budget {
  readonly deadline: number;
  steps: number;
}

function newBudget(clock: Clock): Budget {
  return { deadline: clock.now() + EXPRESSION_MS, steps: 0 };
}

/** Only expressions that can recurse carry the cost of JSONata's per-step hook. */
function installTimeLimit(host: { assign(name: string | symbol, value: unknown): void }, clock: Clock): void {
  const guard = (_node: unknown, _input: unknown, environment: jsonata.Environment) => {
    const budget: Budget | undefined = environment.lookup(BUDGET);
    if (budget === undefined) return;
    budget.steps += 1;
    if (budget.steps > MAX_STEPS || (budget.steps % 1024 === 0 && clock.now() > budget.deadline)) {
      throw new ExpressionTimeout();
    }
  };
  host.assign(Symbol.for('jsonata.__evaluate_entry'), guard);
}

class ExpressionTimeout extends Error {
  override readonly name = 'ExpressionTimeout';
  readonly code = 'U1001';
  constructor() {
    super(
      `Expression evaluation timeout: it took longer than ${EXPRESSION_MS} ms. Check for an endless loop`,
    );
  }
}

function statesFieldsOf(ast: unknown): Set<string> {
  const fields = new Set<string>();
  collect(ast, fields);
  return fields;
}

function collect(node: unknown, fields: Set<string>): void {
  if (Array.isArray(node)) {
    for (const child of node) collect(child, fields);
    return;
  }
  if (!isRecord(node)) return;
  const steps = node.steps;
  if (node.type === 'path' && Array.isArray(steps)) {
    const [first, second]: unknown[] = steps;
    if (isRecord(first) && first.type === 'variable' && first.value === 'states') {
      if (isRecord(second) && typeof second.value === 'string') fields.add(second.value);
    }
  }
  for (const child of Object.values(node)) if (typeof child === 'object') collect(child, fields);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Returned by `toJson` for results that JSON can't carry. */
export const UNSUPPORTED = Symbol('unsupported');

/** Copies a result into plain JSON: JSONata marks its arrays, and a marked array behaves differently when read again. */
export function toJson(value: unknown): JsonValue | typeof UNSUPPORTED {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value + 0 : UNSUPPORTED;
    case 'object':
      break;
    default:
      return UNSUPPORTED;
  }
  if (value === null) return null;
  if (Array.isArray(value)) {
    const copy: JsonValue[] = [];
    for (const item of value) {
      const converted = toJson(item);
      if (converted === UNSUPPORTED) return UNSUPPORTED;
      copy.push(converted);
    }
    return copy;
  }
  if (!isPlain(value)) return UNSUPPORTED;
  const copy: Record<string, JsonValue> = {};
  for (const [key, item] of Object.entries(value)) {
    const converted = toJson(item);
    if (converted === UNSUPPORTED) return UNSUPPORTED;
    setKey(copy, key, converted);
  }
  return copy;
}

function isPlain(value: object): boolean {
  return !('_jsonata_function' in value) && !('_jsonata_lambda' in value) && !(value instanceof RegExp);
}

function setKey(target: Record<string, JsonValue>, key: string, value: JsonValue): void {
  if (key !== '__proto__') target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}
