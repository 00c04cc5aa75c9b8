import { append, type FrameContext, forgetInput, type Machinery } from './context.ts';
import type { Definition } from './definition/types.ts';
import { Aborted, StateError } from './errors.ts';
import type { Execution, ExecutionStatus, Frame } from './execution.ts';
import { runFrame } from './interpreter.ts';
import { sleepUntil } from './wait.ts';

/** Made once: building an error costs its stack. */
const ENDED = new Aborted('the execution has ended');

/** Runs executions, each as its own asynchronous job. */
export interface Runner {
  /** Runs an execution on from where its frame stands. */
  run(execution: Execution, definition: Definition, machineName: string): void;
  /** Ends a running execution as ABORTED. */
  stop(execution: Execution, error: string | undefined, cause: string | undefined): void;
  /** Halts all work without changing any execution, as when the process ends. */
  halt(): void;
  /** Resolves when the execution has ended (at once when it doesn't run). */
  settled(arn: string): Promise<void>;
}

interface Job {
  readonly controller: AbortController;
  readonly finished: Promise<void>;
}

export function createRunner(machinery: Machinery, onEnd: (execution: Execution) => void): Runner {
  const jobs = new Map<string, Job>();
  const { clock } = machinery;

  function end(
    execution: Execution,
    status: Exclude<ExecutionStatus, 'RUNNING'>,
    type: string,
    prev: number,
    details: Readonly<Record<string, string | undefined>>,
  ): void {
    const present = Object.entries(details).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, value]],
    );
    append({ execution, machinery }, type, prev, Object.fromEntries(present));
    execution.status = status;
    execution.stoppedAt = clock.now();
    Object.assign(execution, Object.fromEntries(present));
    // Nothing goes on from a success; everything else can be redriven from its frame.
    if (status === 'SUCCEEDED') delete execution.frame;
    jobs.get(execution.arn)?.controller.abort(ENDED);
    jobs.delete(execution.arn);
    forgetInput(execution);
    onEnd(execution);
  }

  async function work(
    execution: Execution,
    frame: Frame,
    definition: Definition,
    machineName: string,
    signal: AbortSignal,
  ): Promise<void> {
    const context: FrameContext = {
      machinery,
      execution,
      machineName,
      sequence: definition,
      frame,
      parent: undefined,
      mapItem: undefined,
      signal,
    };
    try {
      const output = await runFrame(context);
      if (signal.aborted) return;
      end(execution, 'SUCCEEDED', 'ExecutionSucceeded', frame.lastEvent, { output });
    } catch (error) {
      if (signal.aborted) return;
      const failure = error instanceof StateError ? error : new StateError('States.Runtime', String(error));
      const details = { error: failure.error, cause: failure.text };
      end(execution, 'FAILED', 'ExecutionFailed', frame.lastEvent, details);
    }
  }

  async function timeOut(execution: Execution, at: number, signal: AbortSignal): Promise<void> {
    try {
      await sleepUntil(clock, at, signal);
    } catch {
      return;
    }
    const prev = execution.frame?.lastEvent ?? 0;
    end(execution, 'TIMED_OUT', 'ExecutionTimedOut', prev, { error: 'States.Timeout' });
  }

  return {
    run(execution, definition, machineName) {
      const { frame } = execution;
      if (frame === undefined) return;
      const controller = new AbortController();
      const { promise, resolve } = Promise.withResolvers<void>();
      jobs.set(execution.arn, { controller, finished: promise });
      void work(execution, frame, definition, machineName, controller.signal).finally(resolve);
      if (execution.timeoutAt !== undefined) void timeOut(execution, execution.timeoutAt, controller.signal);
    },
    stop(execution, error, cause) {
      const prev = execution.frame?.lastEvent ?? 0;
      end(execution, 'ABORTED', 'ExecutionAborted', prev, { error, cause });
    },
    halt() {
      for (const job of jobs.values()) job.controller.abort(new Aborted('the runtime halts'));
      jobs.clear();
    },
    settled: (arn) => jobs.get(arn)?.finished ?? Promise.resolve(),
  };
}
