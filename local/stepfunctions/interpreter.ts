import type { JsonValue } from '../../lambdas/core/json.ts';
import { append, bindingsOf, conclude, emit, type FrameContext, type Outcome, parseJson } from './context.ts';
import type { State } from './definition/types.ts';
import { EvaluationError, StateError } from './errors.ts';
import { clearAttempt, moveFrame } from './execution.ts';
import { errorOutput, findCatcher, nextRetry } from './retry.ts';
import { runChoice } from './states/choice.ts';
import { runFail } from './states/fail.ts';
import { runMap } from './states/map.ts';
import { runParallel } from './states/parallel.ts';
import { runPass } from './states/pass.ts';
import { runTask } from './states/task.ts';
import { runWait } from './states/wait.ts';
import { sleepUntil } from './wait.ts';

/**
 * Runs a frame from where it stands to the end of its sequence.
 * @returns the sequence's output as JSON text.
 * @throws StateError when a state fails and nothing catches it (the frame stays at that state, for a redrive), or the
 * signal's reason when the work is aborted.
 */
export async function runFrame(context: FrameContext): Promise<string> {
  const { frame, sequence } = context;
  let input = parseJson(frame.input);
  for (;;) {
    context.signal.throwIfAborted();
    const state = sequence.states.get(frame.state);
    if (state === undefined) throw new StateError('States.Runtime', `There is no state '${frame.state}'.`);
    if (frame.phase === 'new') enter(context, state);
    const outcome = await runState(context, state, input);
    context.signal.throwIfAborted();
    leave(context, state, outcome);
    const { text } = outcome;
    if (outcome.next === undefined) {
      clearAttempt(frame);
      frame.phase = 'done';
      frame.output = text;
      return text;
    }
    moveFrame(frame, outcome.next, text);
    input = outcome.output;
  }
}

function enter(context: FrameContext, state: State): void {
  const { frame, machinery } = context;
  frame.trigger = frame.lastEvent;
  frame.enteredAt = machinery.clock.now();
  frame.enteredEvent = append(context, `${state.type}StateEntered`, frame.lastEvent, {
    name: state.name,
    input: frame.input,
  });
  frame.lastEvent = frame.enteredEvent;
  frame.phase = 'entered';
}

function leave(context: FrameContext, state: State, outcome: Outcome): void {
  const details: Record<string, JsonValue> = { name: state.name, output: outcome.text };
  if (outcome.assignedTexts !== undefined) details.assignedVariables = outcome.assignedTexts;
  Object.assign(context.frame.variables, outcome.assigned);
  emit(context, `${state.type}StateExited`, details);
}

async function runState(context: FrameContext, state: State, input: JsonValue): Promise<Outcome> {
  for (;;) {
    try {
      await waitForRetry(context);
      return await runAttempt(context, state, input);
    } catch (error) {
      context.signal.throwIfAborted();
      const outcome = await recover(context, state, input, toFailure(context, state, error));
      if (outcome !== 'retry') return outcome;
    }
  }
}

/** Retries or catches a failure; throws it when neither applies. */
async function recover(
  context: FrameContext,
  state: State,
  input: JsonValue,
  failure: StateError,
): Promise<Outcome | 'retry'> {
  if (!('retry' in state)) throw failure;
  const { frame, machinery } = context;
  if (state.type !== 'Task') emit(context, `${state.type}StateFailed`);
  const delay = nextRetry(state.retry, frame, failure, machinery.random);
  if (delay !== undefined) {
    clearAttempt(frame);
    frame.phase = 'retrying';
    frame.due = machinery.clock.now() + delay;
    return 'retry';
  }
  const catcher = findCatcher(state.catch, failure);
  if (catcher === undefined) throw failure;
  const caught = errorOutput(failure);
  try {
    const bindings = bindingsOf(context, { input, errorOutput: caught }, state);
    return await conclude(context, catcher, bindings, caught);
  } catch (error) {
    context.signal.throwIfAborted();
    throw toFailure(context, state, error);
  }
}

async function waitForRetry({ frame, machinery, signal }: FrameContext): Promise<void> {
  if (frame.phase !== 'retrying') return;
  await sleepUntil(machinery.clock, frame.due ?? 0, signal);
  delete frame.due;
  frame.phase = 'entered';
}

function runAttempt(context: FrameContext, state: State, input: JsonValue): Promise<Outcome> {
  switch (state.type) {
    case 'Pass':
    case 'Succeed':
      return runPass(context, state, input);
    case 'Fail':
      return runFail(context, state, input);
    case 'Wait':
      return runWait(context, state, input);
    case 'Choice':
      return runChoice(context, state, input);
    case 'Task':
      return runTask(context, state, input);
    case 'Parallel':
      return runParallel(context, state, input, runFrame);
    case 'Map':
      return runMap(context, state, input, runFrame);
  }
}

/** What Retry, Catch and the history see of an error; reports a failing expression on the way. */
function toFailure(context: FrameContext, state: State, error: unknown): StateError {
  if (error instanceof StateError) return error;
  if (!(error instanceof EvaluationError)) {
    const text = error instanceof Error ? error.message : String(error);
    return new StateError('States.Runtime', `An internal error stopped the state '${state.name}': ${text}`);
  }
  const { frame } = context;
  const name = 'States.QueryEvaluationError';
  const where = `An error occurred while executing the state '${state.name}' (entered at the event id #${frame.enteredEvent}).`;
  const cause = `${where} ${error.message}`;
  const link = error.afterEntry ? frame.lastEvent : frame.trigger;
  frame.lastEvent = append(context, 'EvaluationFailed', link, {
    error: name,
    cause,
    ...(error.location === undefined ? {} : { location: error.location }),
    state: state.name,
  });
  frame.trigger = frame.lastEvent;
  return new StateError(name, cause);
}
