import type { Clock, NewId, Random } from '../../lambdas/core/clock.ts';
import type { JsonObject, JsonValue } from '../../lambdas/core/json.ts';
import { isJsonList } from '../edge/json.ts';
import type { Assignments, Sequence, State } from './definition/types.ts';
import { EvaluationError, StateError } from './errors.ts';
import type { Execution, Frame } from './execution.ts';
import type { Bindings } from './expression.ts';
import type { EventDetails } from './history.ts';
import { byteLength, HISTORY_EVENTS, PAYLOAD_BYTES } from './limits.ts';
import type { TaskServices } from './services/task-services.ts';
import { evaluateTemplate, type Template } from './template.ts';
import type { Tokens } from './tokens.ts';

/** What running an execution draws on. */
export interface Machinery {
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  readonly services: TaskServices;
  readonly tokens: Tokens;
  readonly region: string;
  readonly roleArn: string;
}

/** A frame with all that is needed to run it. */
export interface FrameContext {
  readonly machinery: Machinery;
  readonly execution: Execution;
  readonly machineName: string;
  readonly sequence: Sequence;
  readonly frame: Frame;
  readonly parent: FrameContext | undefined;
  /** The item of the innermost Map around this frame. */
  readonly mapItem: { readonly Index: number; readonly Value: JsonValue } | undefined;
  readonly signal: AbortSignal;
}

/** How a state ended: where to go on, with what. */
export interface Outcome {
  readonly next: string | undefined;
  readonly output: JsonValue;
  /** The output as JSON text. */
  readonly text: string;
  readonly assigned: Readonly<Record<string, JsonValue>> | undefined;
  /** The assigned values as JSON texts. */
  readonly assignedTexts: Readonly<Record<string, string>> | undefined;
}

/** Appends an event to the history without moving any path on. */
export function append(
  { execution, machinery }: Pick<FrameContext, 'execution' | 'machinery'>,
  type: string,
  prev: number,
  details?: EventDetails,
): number {
  const { history } = execution;
  const id = history.length + 1;
  // The last place is kept for the event that ends the execution.
  if (id >= HISTORY_EVENTS && !type.startsWith('Execution')) {
    throw new StateError(
      'States.Runtime',
      `The execution reached the maximum number of history events (${HISTORY_EVENTS}).`,
    );
  }
  history.push({
    id,
    time: machinery.clock.now(),
    type,
    prev,
    ...(details === undefined ? {} : { details }),
  });
  return id;
}

/** Appends an event to this frame's path. */
export function emit(context: FrameContext, type: string, details?: EventDetails): number {
  const { frame } = context;
  const id = append(context, type, frame.lastEvent, details);
  frame.lastEvent = id;
  frame.trigger = id;
  return id;
}

/** What expressions of the current state see. */
export function bindingsOf(
  context: FrameContext,
  states: Readonly<Record<string, unknown>>,
  state: State,
): Bindings {
  const bindings: Bindings = {};
  addVariables(bindings, context);
  bindings.states = { ...states, context: contextObject(context, state) };
  return bindings;
}

function addVariables(bindings: Bindings, context: FrameContext): void {
  if (context.parent !== undefined) addVariables(bindings, context.parent);
  Object.assign(bindings, context.frame.variables);
}

function contextObject(context: FrameContext, state: State): JsonObject {
  const { execution, frame, machineName, mapItem, machinery } = context;
  const retryable = 'retry' in state;
  return {
    Execution: {
      Id: execution.arn,
      Input: inputOf(execution),
      Name: execution.name,
      RoleArn: machinery.roleArn,
      StartTime: iso(execution.startedAt),
      RedriveCount: execution.redriveCount,
      ...(execution.redrivenAt === undefined ? {} : { RedriveTime: iso(execution.redrivenAt) }),
    },
    StateMachine: { Id: execution.machineArn, Name: machineName },
    State: {
      Name: state.name,
      EnteredTime: iso(frame.enteredAt),
      ...(retryable ? { RetryCount: frame.retryCount } : {}),
    },
    ...(frame.task?.token === undefined ? {} : { Task: { Token: frame.task.token } }),
    ...(mapItem === undefined ? {} : { Map: { Item: { Index: mapItem.Index, Value: mapItem.Value } } }),
  };
}

const parsedInputs = new WeakMap<Execution, JsonValue>();

/** The execution's input, parsed once. */
function inputOf(execution: Execution): JsonValue {
  let input = parsedInputs.get(execution);
  if (input === undefined) {
    input = parseJson(execution.input);
    parsedInputs.set(execution, input);
  }
  return input;
}

/** Lets go of the parsed input of an execution that has ended. */
export function forgetInput(execution: Execution): void {
  parsedInputs.delete(execution);
}

export function parseJson(text: string): JsonValue {
  return JSON.parse(text);
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

/** Evaluates a field of the current state, and stops when the work was aborted meanwhile. */
export async function evaluate(
  context: FrameContext,
  template: Template,
  bindings: Bindings,
): Promise<JsonValue> {
  if (template.kind === 'literal') return template.value;
  const value = await evaluateTemplate(template, bindings);
  context.signal.throwIfAborted();
  return value;
}

/** The parts of a state, a catcher or a choice rule that say how it ends. */
export interface Ending {
  readonly assign: Assignments | undefined;
  readonly output: Template | undefined;
  readonly next: string | undefined;
}

/** Evaluates Assign and Output with the variables as they were; without Output, `fallback` is the output. */
export async function conclude(
  context: FrameContext,
  ending: Ending,
  bindings: Bindings,
  fallback: JsonValue,
): Promise<Outcome> {
  const subject = context.frame.state;
  let assigned: Record<string, JsonValue> | undefined;
  let assignedTexts: Record<string, string> | undefined;
  if (ending.assign !== undefined) {
    assigned = {};
    assignedTexts = {};
    let bytes = 0;
    for (const [name, template] of ending.assign) {
      const value = await evaluate(context, template, bindings);
      const json = JSON.stringify(value);
      assigned[name] = value;
      assignedTexts[name] = json;
      bytes += Buffer.byteLength(json);
    }
    if (bytes > PAYLOAD_BYTES) throw tooLarge(subject);
  }
  const output = ending.output === undefined ? fallback : await evaluate(context, ending.output, bindings);
  const text = JSON.stringify(output);
  checkSize(text, subject);
  return { next: ending.next, output, text, assigned, assignedTexts };
}

/** @throws StateError when a JSON text is larger than the service carries. */
export function checkSize(text: string, subject: string): void {
  if (byteLength(text) > PAYLOAD_BYTES) throw tooLarge(subject);
}

function tooLarge(subject: string): StateError {
  return new StateError(
    'States.DataLimitExceeded',
    `The state/task '${subject}' returned a result with a size exceeding the maximum number of bytes service limit.`,
  );
}

/** Evaluates a field that must be an integer in a range. */
export async function evaluateInteger(
  context: FrameContext,
  template: Template,
  field: string,
  bindings: Bindings,
  min: number,
  max: number,
): Promise<number> {
  const value = await evaluate(context, template, bindings);
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  if (typeof value !== 'number') throw typeError(template, field, 'number', value);
  throw new EvaluationError(
    `${subjectOf(template, field)} must be an integer from ${min} to ${max} but was: ${value}`,
    field,
  );
}

function subjectOf(template: Template, field: string): string {
  return template.kind === 'expression'
    ? `The result of the JSONata expression '${template.expression.source}' specified for the field '${field}'`
    : `The value specified for the field '${field}'`;
}

/** The error for a field whose value has the wrong type. */
export function typeError(
  template: Template,
  field: string,
  expected: string,
  value: JsonValue,
): EvaluationError {
  const subject =
    template.kind === 'expression'
      ? `The JSONata expression '${template.expression.source}' specified for the field '${field}' returned an unexpected result type.`
      : `The value specified for the field '${field}' has an unexpected type.`;
  const found = value === null ? 'null' : isJsonList(value) ? 'array' : typeof value;
  return new EvaluationError(
    `${subject} Expected '${expected}', but was '${found}' for value: ${JSON.stringify(value)}`,
    field,
  );
}
