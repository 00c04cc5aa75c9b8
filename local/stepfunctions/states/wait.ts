import type { JsonValue } from '../../../lambdas/core/json.ts';
import {
  bindingsOf,
  conclude,
  evaluate,
  evaluateInteger,
  type FrameContext,
  type Outcome,
  typeError,
} from '../context.ts';
import type { WaitState } from '../definition/types.ts';
import { EvaluationError } from '../errors.ts';
import type { Bindings } from '../expression.ts';
import { MAX_SECONDS } from '../limits.ts';
import { parseTimestamp } from '../timestamp.ts';
import { sleepUntil } from '../wait.ts';

/** Waits for a number of seconds or until a time; a time that has passed ends the wait at once. */
export async function runWait(context: FrameContext, state: WaitState, input: JsonValue): Promise<Outcome> {
  const { frame, machinery, signal } = context;
  const bindings = bindingsOf(context, { input }, state);
  if (frame.phase !== 'waiting') {
    frame.due = await dueTime(context, state, bindings);
    frame.phase = 'waiting';
  }
  await sleepUntil(machinery.clock, frame.due ?? 0, signal);
  return conclude(context, state, bindings, input);
}

async function dueTime(context: FrameContext, state: WaitState, bindings: Bindings): Promise<number> {
  const now = context.machinery.clock.now();
  if (state.seconds !== undefined) {
    return now + 1000 * (await evaluateInteger(context, state.seconds, 'Seconds', bindings, 0, MAX_SECONDS));
  }
  if (state.timestamp === undefined) return now;
  const text = await evaluate(context, state.timestamp, bindings);
  if (typeof text !== 'string') throw typeError(state.timestamp, 'Timestamp', 'string', text);
  const due = parseTimestamp(text);
  if (due === undefined) {
    throw new EvaluationError(
      `The Timestamp field cannot be parsed as an ISO-8601 extended offset date-time format string: ${text}`,
      'Timestamp',
      true,
    );
  }
  if (due > now + MAX_SECONDS * 1000) {
    throw new EvaluationError('Wait state delay is too long.', 'Timestamp', true);
  }
  return due;
}
