import type { JsonValue } from '../../lambdas/core/json.ts';
import type { HistoryEvent } from './history.ts';

export type ExecutionStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';

/**
 * Where a sequence of states stands: the execution itself, a branch, or an iteration. Plain data, changed only in
 * step with the history, so that a copy of it is enough to go on from.
 */
export interface Frame {
  /** The current state's name. */
  state: string;
  /** The current state's input, as JSON text. */
  input: string;
  /**
   * `new`: not entered yet · `entered`: entered, fields not taken up · `waiting`: until `due` · `started`: its task
   * runs · `children`: its branches or iterations run · `retrying`: until `due` · `done`.
   */
  phase: 'new' | 'entered' | 'waiting' | 'started' | 'children' | 'retrying' | 'done';
  variables: Record<string, JsonValue>;
  /** The newest event on this path. */
  lastEvent: number;
  /** The event that events about failing expressions link to. */
  trigger: number;
  enteredEvent: number;
  /** Epoch milliseconds. */
  enteredAt: number;
  /** Attempts spent of each retrier of the current state. */
  retries: number[];
  retryCount: number;
  /** Epoch milliseconds. */
  due?: number;
  task?: TaskRun;
  children?: Frame[];
  /** The items of a Map, as JSON text. */
  items?: string;
  /** Which item of its Map this iteration is about. */
  iteration?: number;
  /** The output, once `done`, as JSON text. */
  output?: string;
}

/** The attempt of a Task that is under way. */
export interface TaskRun {
  /** The arguments, as JSON text. */
  readonly parameters: string;
  readonly token?: string;
  readonly timeoutSeconds?: number;
  /** Epoch milliseconds. */
  timeoutAt?: number;
  readonly heartbeatSeconds?: number;
  heartbeatAt?: number;
  /** True once the service was called and only the callback is awaited. */
  submitted: boolean;
}

/** An execution and its history, plain data. */
export interface Execution {
  readonly arn: string;
  readonly name: string;
  readonly machineArn: string;
  readonly revisionId: string;
  /** Grows by one with each execution of this store; newest first is highest first. */
  readonly order: number;
  readonly input: string;
  readonly startedAt: number;
  status: ExecutionStatus;
  stoppedAt?: number;
  output?: string;
  error?: string;
  cause?: string;
  redriveCount: number;
  redrivenAt?: number;
  /** The clientToken of the last redrive. */
  redriveToken?: string;
  /** When the machine's time-out strikes, epoch milliseconds. */
  timeoutAt?: number;
  traceHeader?: string;
  readonly history: HistoryEvent[];
  /** Kept while the execution runs or can be redriven. */
  frame?: Frame;
}

/** A frame at the start of a sequence, linked to the event that started it. */
export function newFrame(state: string, input: string, lastEvent: number): Frame {
  return {
    state,
    input,
    phase: 'new',
    variables: {},
    lastEvent,
    trigger: lastEvent,
    enteredEvent: 0,
    enteredAt: 0,
    retries: [],
    retryCount: 0,
  };
}

/** Moves a frame on to another state. */
export function moveFrame(frame: Frame, state: string, input: string): void {
  frame.state = state;
  frame.input = input;
  frame.phase = 'new';
  frame.retries = [];
  frame.retryCount = 0;
  clearAttempt(frame);
}

/** Forgets what an attempt at the current state left behind. */
export function clearAttempt(frame: Frame): void {
  delete frame.due;
  delete frame.task;
  delete frame.children;
  delete frame.items;
}
