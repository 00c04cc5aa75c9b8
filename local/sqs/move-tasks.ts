import type { Clock, NewId } from '../../lambdas/core/clock.ts';
import { invalidParameter, resourceNotFound, unsupportedOperation } from './errors.ts';
import type { StoredMessage } from './message.ts';
import type { Queue } from './queue.ts';
import type { SqsStore } from './store.ts';

/** The highest rate, and the one used when none is given. */
export const MAX_MOVES_PER_SECOND = 500;

type MoveTaskStatus = 'RUNNING' | 'COMPLETED' | 'CANCELLING' | 'CANCELLED' | 'FAILED';

/** A task that moves a dead-letter queue's messages. */
export interface MoveTask {
  readonly handle: string;
  readonly sourceArn: string;
  /** Absent: every message goes back to the queue it came from. */
  readonly destinationArn?: string;
  readonly maxPerSecond?: number;
  readonly startedAt: number;
  readonly toMove: number;
  moved: number;
  status: MoveTaskStatus;
  failureReason?: string;
}

export interface MoveTasks {
  start(options: {
    readonly sourceArn: string;
    readonly destinationArn?: string;
    readonly maxPerSecond?: number;
  }): MoveTask;
  /** The tasks of a source, newest first. */
  list(sourceArn: string): readonly MoveTask[];
  cancel(handle: string): MoveTask;
}

/** Runs move tasks on the clock: a share at once, the next one a second later, until the source is empty. */
export function createMoveTasks(deps: {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly store: () => SqsStore;
}): MoveTasks {
  const { clock, newId } = deps;
  const tasks: MoveTask[] = [];

  function sourceQueue(arn: string): Queue {
    const source = deps.store().queueByArn(arn);
    if (source === undefined) {
      throw resourceNotFound("The resource that you specified for the SourceArn parameter doesn't exist.");
    }
    return source;
  }

  /** Moves one message under a new id, as if it had just been sent. */
  function move(task: MoveTask, source: Queue, message: StoredMessage): void {
    const store = deps.store();
    const arn = task.destinationArn ?? message.sourceArn;
    const target = arn === undefined ? undefined : store.queueByArn(arn);
    if (target === undefined) {
      store.accept(source, message);
      task.status = 'FAILED';
      task.failureReason =
        arn === undefined ? 'CouldNotDetermineMessageSource' : 'AWS.SimpleQueueService.NonExistentQueue';
      return;
    }
    const now = clock.now();
    const {
      sourceArn: _sourceArn,
      receipt: _receipt,
      receivedAt: _receivedAt,
      firstReceivedAt: _firstReceivedAt,
      ...kept
    } = message;
    store.accept(target, { ...kept, id: newId(), sentAt: now, receiveCount: 0, visibleAt: now });
    task.moved += 1;
  }

  async function run(task: MoveTask, source: Queue): Promise<void> {
    const perSecond = task.maxPerSecond ?? MAX_MOVES_PER_SECOND;
    for (;;) {
      if (task.status === 'CANCELLING') task.status = 'CANCELLED';
      for (let count = 0; count < perSecond && task.status === 'RUNNING'; count += 1) {
        const [message] = source.takeForMove(clock.now(), 1);
        if (message === undefined) task.status = 'COMPLETED';
        else move(task, source, message);
      }
      if (task.status !== 'RUNNING') return;
      await clock.sleep(1_000);
    }
  }

  return {
    start(options) {
      const store = deps.store();
      const source = sourceQueue(options.sourceArn);
      if (store.deadLetterSources(source).length === 0) {
        throw invalidParameter('Source queue must be configured as a Dead Letter Queue.');
      }
      const { destinationArn } = options;
      const destination = destinationArn === undefined ? undefined : store.queueByArn(destinationArn);
      if (destinationArn !== undefined && destination === undefined) {
        throw resourceNotFound(
          "The resource that you specified for the DestinationArn parameter doesn't exist.",
        );
      }
      if (destination !== undefined && destination.fifo !== source.fifo) {
        throw unsupportedOperation('The destination queue must be of the same type as the source queue.');
      }
      if (tasks.some(({ sourceArn, status }) => sourceArn === source.arn && isActive(status))) {
        throw unsupportedOperation(
          'There is already a task running. Only one active task is allowed for a source queue arn at a given time.',
        );
      }
      const handle = Buffer.from(JSON.stringify({ taskId: newId(), sourceArn: source.arn })).toString(
        'base64',
      );
      const { visible } = source.counts(clock.now());
      const task: MoveTask = {
        ...options,
        handle,
        startedAt: clock.now(),
        toMove: visible,
        moved: 0,
        status: 'RUNNING',
      };
      tasks.unshift(task);
      void run(task, source);
      return task;
    },
    list(sourceArn) {
      sourceQueue(sourceArn);
      return tasks.filter((task) => task.sourceArn === sourceArn);
    },
    cancel(handle) {
      const task = tasks.find((candidate) => candidate.handle === handle);
      if (task === undefined) throw resourceNotFound('Task does not exist.');
      if (task.status !== 'RUNNING') {
        throw unsupportedOperation('Only active tasks can be cancelled.');
      }
      task.status = 'CANCELLING';
      return task;
    },
  };
}

function isActive(status: MoveTaskStatus): boolean {
  return status === 'RUNNING' || status === 'CANCELLING';
}
