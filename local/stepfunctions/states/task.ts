import type { JsonValue } from '../../../lambdas/core/json.ts';
import {
  bindingsOf,
  checkSize,
  conclude,
  emit,
  evaluate,
  evaluateInteger,
  type FrameContext,
  type Outcome,
  parseJson,
} from '../context.ts';
import type { TaskState } from '../definition/types.ts';
import { StateError } from '../errors.ts';
import type { TaskRun } from '../execution.ts';
import type { Bindings } from '../expression.ts';
import type { EventDetails } from '../history.ts';
import { MAX_SECONDS } from '../limits.ts';
import type { Callback } from '../tokens.ts';
import { childSignal, withDeadline } from '../wait.ts';
import { callTask } from './task-call.ts';

/** Calls a function or a service, waits for the callback where the resource says so, and takes the result. */
export async function runTask(context: FrameContext, state: TaskState, input: JsonValue): Promise<Outcome> {
  const { frame } = context;
  const run =
    frame.phase === 'started' && frame.task !== undefined
      ? resume(context, frame.task)
      : await schedule(context, state, input);
  const text = await perform(context, state, run);
  const result = parseJson(text);
  return conclude(context, state, bindingsOf(context, { input, result }, state), result);
}

/** After a restart the call is made again, so its time starts again; a callback keeps its deadline. */
function resume({ machinery }: FrameContext, run: TaskRun): TaskRun {
  if (!run.submitted && run.timeoutSeconds !== undefined) {
    run.timeoutAt = machinery.clock.now() + run.timeoutSeconds * 1000;
  }
  return run;
}

/** Evaluates the fields, then reports the attempt and its start. */
async function schedule(context: FrameContext, state: TaskState, input: JsonValue): Promise<TaskRun> {
  const { frame, machinery, execution } = context;
  const { integration } = state;
  const token =
    integration.kind === 'service' && integration.waitForToken
      ? machinery.tokens.create(execution.arn)
      : undefined;
  // The arguments are where the token is handed over, so it has to be in the context object before them.
  if (token !== undefined) frame.task = { parameters: '', token, submitted: false };
  const bindings = bindingsOf(context, { input }, state);
  const parameters =
    state.arguments === undefined ? input : await evaluate(context, state.arguments, bindings);
  const timeout = await seconds(context, state, 'TimeoutSeconds', bindings);
  const heartbeat = await seconds(context, state, 'HeartbeatSeconds', bindings);
  const text = JSON.stringify(parameters);
  checkSize(text, state.name);
  const now = machinery.clock.now();
  const run: TaskRun = {
    parameters: text,
    submitted: false,
    ...(token === undefined ? {} : { token }),
    ...(timeout === undefined ? {} : { timeoutSeconds: timeout, timeoutAt: now + timeout * 1000 }),
    ...(heartbeat === undefined ? {} : { heartbeatSeconds: heartbeat, heartbeatAt: now + heartbeat * 1000 }),
  };
  const limits = {
    ...(timeout === undefined ? {} : { timeoutInSeconds: timeout }),
    ...(heartbeat === undefined ? {} : { heartbeatInSeconds: heartbeat }),
  };
  if (integration.kind === 'function') {
    emit(context, 'LambdaFunctionScheduled', { resource: integration.arn, input: text, ...limits });
    emit(context, 'LambdaFunctionStarted');
  } else {
    const { resourceType, resource } = integration;
    const region = machinery.region;
    emit(context, 'TaskScheduled', { resourceType, resource, region, parameters: text, ...limits });
    emit(context, 'TaskStarted', { resourceType, resource });
  }
  frame.task = run;
  frame.phase = 'started';
  return run;
}

async function seconds(
  context: FrameContext,
  state: TaskState,
  field: 'TimeoutSeconds' | 'HeartbeatSeconds',
  bindings: Bindings,
): Promise<number | undefined> {
  const template = field === 'TimeoutSeconds' ? state.timeoutSeconds : state.heartbeatSeconds;
  if (template === undefined) return undefined;
  return evaluateInteger(context, template, field, bindings, 1, MAX_SECONDS);
}

/** Runs the attempt and reports how it ended; returns the result as JSON text. */
async function perform(context: FrameContext, state: TaskState, run: TaskRun): Promise<string> {
  try {
    const text =
      run.token === undefined
        ? await callOnce(context, state, run)
        : await callBack(context, state, run, run.token);
    emit(context, endEvent(state, 'Succeeded'), { ...resourceOf(state), output: text });
    return text;
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof StateError)) throw error;
    const timedOut = error.error === 'States.Timeout' || error.error === 'States.HeartbeatTimeout';
    emit(context, endEvent(state, timedOut ? 'TimedOut' : 'Failed'), {
      ...resourceOf(state),
      ...(error.error === undefined ? {} : { error: error.error }),
      ...(error.text === undefined ? {} : { cause: error.text }),
    });
    throw error;
  }
}

/** Request and response: the call's answer is the result. */
async function callOnce(context: FrameContext, state: TaskState, run: TaskRun): Promise<string> {
  const { machinery, signal } = context;
  const { controller, release } = childSignal(signal);
  try {
    const answer = await withDeadline(
      callTask(machinery, state, run, controller.signal),
      run.timeoutAt,
      machinery.clock,
      signal,
    );
    if (answer === undefined) {
      const timeout = new StateError('States.Timeout');
      controller.abort(timeout);
      throw timeout;
    }
    checkSize(answer.value, subjectOf(state));
    return answer.value;
  } finally {
    release();
  }
}

/** Hands the token over, then waits until somebody answers it. */
async function callBack(
  context: FrameContext,
  state: TaskState,
  run: TaskRun,
  token: string,
): Promise<string> {
  const { tokens, clock } = context.machinery;
  const answered = tokens.open(token, () => {
    if (run.heartbeatSeconds !== undefined) run.heartbeatAt = clock.now() + run.heartbeatSeconds * 1000;
  });
  try {
    if (!run.submitted) {
      const output = await callOnce(context, state, run);
      emit(context, 'TaskSubmitted', { ...resourceOf(state), output });
      run.submitted = true;
    }
    return resultOf(await awaitAnswer(context, run, answered));
  } finally {
    tokens.close(token);
  }
}

async function awaitAnswer(
  context: FrameContext,
  run: TaskRun,
  answered: Promise<Callback>,
): Promise<Callback> {
  const { clock } = context.machinery;
  for (;;) {
    const deadline = earliest(run.timeoutAt, run.heartbeatAt);
    const answer = await withDeadline(answered, deadline, clock, context.signal);
    if (answer !== undefined) return answer.value;
    const now = clock.now();
    if (run.timeoutAt !== undefined && now >= run.timeoutAt) throw new StateError('States.Timeout');
    // A heartbeat may have moved the deadline while the timer ran.
    if (run.heartbeatAt !== undefined && now >= run.heartbeatAt)
      throw new StateError('States.HeartbeatTimeout');
  }
}

function earliest(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}

function resultOf(callback: Callback): string {
  if (callback.kind === 'success') return callback.output;
  throw new StateError(callback.error, callback.cause);
}

function endEvent(state: TaskState, end: 'Succeeded' | 'Failed' | 'TimedOut'): string {
  return `${state.integration.kind === 'function' ? 'LambdaFunction' : 'Task'}${end}`;
}

function resourceOf(state: TaskState): EventDetails {
  const { integration } = state;
  if (integration.kind === 'function') return {};
  return { resourceType: integration.resourceType, resource: integration.resource };
}

function subjectOf(state: TaskState): string {
  return state.integration.kind === 'function' ? state.integration.arn : state.integration.resourceType;
}
