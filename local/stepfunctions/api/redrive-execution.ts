import type { JsonObject } from '../../../lambdas/core/json.ts';
import { append } from '../context.ts';
import type { Sequence } from '../definition/types.ts';
import { ApiError } from '../errors.ts';
import type { Execution, Frame } from '../execution.ts';
import { HISTORY_EVENTS, REDRIVE_TOKEN_MS, REDRIVE_WINDOW_MS } from '../limits.ts';
import { type ActionDeps, optionalString, requireExecution, seconds } from './action.ts';

/** Runs an unsuccessful execution on from the step it ended at, on the definition it started with. */
export function redriveExecution(deps: ActionDeps, request: JsonObject): JsonObject {
  const { machinery, store, runner } = deps;
  const execution = requireExecution(deps, request);
  const clientToken = optionalString(request, 'clientToken');
  const now = machinery.clock.now();
  const { redrivenAt } = execution;
  if (
    clientToken !== undefined &&
    clientToken === execution.redriveToken &&
    redrivenAt !== undefined &&
    now < redrivenAt + REDRIVE_TOKEN_MS
  ) {
    return { redriveDate: seconds(redrivenAt) };
  }
  const refusal = redriveRefusal(execution, now);
  const machine = store.machines.get(execution.machineArn);
  const definition = machine?.revisions.get(execution.revisionId)?.definition;
  const { frame } = execution;
  if (refusal !== undefined || machine === undefined || definition === undefined || frame === undefined) {
    throw new ApiError(
      'ExecutionNotRedrivable',
      `Execution Not Redrivable: '${refusal ?? 'Its state machine does not exist'}'`,
    );
  }
  execution.redriveCount += 1;
  execution.redrivenAt = now;
  if (clientToken === undefined) delete execution.redriveToken;
  else execution.redriveToken = clientToken;
  execution.status = 'RUNNING';
  delete execution.stoppedAt;
  delete execution.error;
  delete execution.cause;
  const { timeoutSeconds } = definition;
  if (timeoutSeconds !== undefined) execution.timeoutAt = now + timeoutSeconds * 1000;
  const event = append({ execution, machinery }, 'ExecutionRedriven', execution.history.length, {
    redriveCount: execution.redriveCount,
  });
  resume(frame, definition, event);
  deps.onStatusChange(execution);
  runner.run(execution, definition, machine.name);
  return { redriveDate: seconds(now) };
}

/** Why an execution can't be redriven, or undefined when it can. */
export function redriveRefusal(execution: Execution, now: number): string | undefined {
  if (execution.status === 'RUNNING') return 'Execution is RUNNING and cannot be redriven';
  if (execution.status === 'SUCCEEDED') return 'Execution is SUCCEEDED and cannot be redriven';
  if (execution.stoppedAt !== undefined && now > execution.stoppedAt + REDRIVE_WINDOW_MS) {
    return 'Execution has exceeded the redrivable period of 14 days';
  }
  if (execution.history.length >= HISTORY_EVENTS - 1) {
    return 'Execution history has reached the maximum number of events';
  }
  return undefined;
}

/** Puts what had not succeeded back to the start of its step, with fresh retry counts. */
function resume(frame: Frame, sequence: Sequence, event: number): void {
  if (frame.phase === 'done') return;
  const state = sequence.states.get(frame.state);
  frame.retries = [];
  frame.retryCount = 0;
  delete frame.due;
  delete frame.task;
  frame.lastEvent = event;
  frame.trigger = event;
  if (
    frame.children !== undefined &&
    state !== undefined &&
    (state.type === 'Map' || state.type === 'Parallel')
  ) {
    frame.phase = 'children';
    frame.children.forEach((child, index) => {
      const nested = state.type === 'Map' ? state.processor : state.branches[index];
      if (nested !== undefined) resume(child, nested, event);
    });
    return;
  }
  // A step that reports its own start is scheduled again; the others are entered again.
  const starts = state !== undefined && 'retry' in state && frame.phase !== 'new';
  frame.phase = starts ? 'entered' : 'new';
}
