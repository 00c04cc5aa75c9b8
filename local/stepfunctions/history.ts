import type { JsonValue } from '../../lambdas/core/json.ts';

/** What an event says besides id, time and type; inputs and outputs are JSON texts, as in the service's answers. */
export type EventDetails = Readonly<Record<string, JsonValue>>;

/** One event of an execution's history, plain data. */
export interface HistoryEvent {
  readonly id: number;
  /** Epoch milliseconds. */
  readonly time: number;
  /** The service's event type, e.g. `TaskStateEntered`. */
  readonly type: string;
  readonly prev: number;
  readonly details?: EventDetails;
}

const NO_DETAILS = new Set([
  'LambdaFunctionStarted',
  'MapStateAborted',
  'MapStateFailed',
  'MapStateSucceeded',
  'ParallelStateAborted',
  'ParallelStateFailed',
  'ParallelStateStarted',
  'ParallelStateSucceeded',
  'TaskStateAborted',
  'WaitStateAborted',
]);

/** Fields that only `includeExecutionData` shows. */
const DATA_FIELDS = new Set(['input', 'output', 'parameters', 'assignedVariables']);

/** The service's name for the member of an event that carries its details, undefined for events without any. */
function detailsKey(type: string): string | undefined {
  if (NO_DETAILS.has(type)) return undefined;
  if (type.endsWith('StateEntered')) return 'stateEnteredEventDetails';
  if (type.endsWith('StateExited')) return 'stateExitedEventDetails';
  return `${type.charAt(0).toLowerCase()}${type.slice(1)}EventDetails`;
}

/** An event as GetExecutionHistory answers it; `timestamp` is in seconds. */
export function toApiEvent(event: HistoryEvent, includeData: boolean): Record<string, JsonValue> {
  const answer: Record<string, JsonValue> = {
    timestamp: event.time / 1000,
    type: event.type,
    id: event.id,
    previousEventId: event.prev,
  };
  const key = detailsKey(event.type);
  if (key === undefined) return answer;
  const details: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(event.details ?? {})) {
    if (!DATA_FIELDS.has(name)) details[name] = value;
    else if (includeData) {
      details[name] = value;
      if (name !== 'parameters') details[`${name}Details`] = { truncated: false };
    }
  }
  answer[key] = details;
  return answer;
}

/**
 * State transitions that a Standard workflow is billed for: every state entered, and every time a Task, Parallel or
 * Map is started again (retries and redrives).
 */
export function billedTransitions(history: readonly HistoryEvent[]): number {
  const types = new Map<number, string>();
  let count = 0;
  for (const event of history) {
    types.set(event.id, event.type);
    if (event.type.endsWith('StateEntered')) count += 1;
    else if (STARTS.has(event.type) && !types.get(event.prev)?.endsWith('StateEntered')) count += 1;
  }
  return count;
}

const STARTS = new Set([
  'TaskScheduled',
  'LambdaFunctionScheduled',
  'ParallelStateStarted',
  'MapStateStarted',
]);
