import type { JsonObject } from '../../../lambdas/core/json.ts';
import type { Action } from '../action.ts';
import { optionalInteger, optionalText, text } from '../input.ts';
import { MAX_MOVES_PER_SECOND, type MoveTask } from '../move-tasks.ts';

export const startMessageMoveTask: Action = ({ store }, input) => {
  const destinationArn = optionalText(input, 'DestinationArn');
  const maxPerSecond = optionalInteger(input, 'MaxNumberOfMessagesPerSecond', [1, MAX_MOVES_PER_SECOND]);
  const { handle } = store.moveTasks.start({
    sourceArn: text(input, 'SourceArn'),
    ...(destinationArn === undefined ? {} : { destinationArn }),
    ...(maxPerSecond === undefined ? {} : { maxPerSecond }),
  });
  return { TaskHandle: handle };
};

export const listMessageMoveTasks: Action = ({ store }, input) => {
  const most = optionalInteger(input, 'MaxResults', [1, 10]) ?? 1;
  return { Results: store.moveTasks.list(text(input, 'SourceArn')).slice(0, most).map(shape) };
};

export const cancelMessageMoveTask: Action = ({ store }, input) => {
  const { moved } = store.moveTasks.cancel(text(input, 'TaskHandle'));
  return { ApproximateNumberOfMessagesMoved: moved };
};

/** The handle is shown only while there is something to cancel. */
function shape(task: MoveTask): JsonObject {
  return {
    ...(task.status === 'RUNNING' ? { TaskHandle: task.handle } : {}),
    Status: task.status,
    SourceArn: task.sourceArn,
    ...(task.destinationArn === undefined ? {} : { DestinationArn: task.destinationArn }),
    ...(task.maxPerSecond === undefined ? {} : { MaxNumberOfMessagesPerSecond: task.maxPerSecond }),
    ApproximateNumberOfMessagesMoved: task.moved,
    ApproximateNumberOfMessagesToMove: task.toMove,
    ...(task.failureReason === undefined ? {} : { FailureReason: task.failureReason }),
    StartedTimestamp: task.startedAt,
  };
}
