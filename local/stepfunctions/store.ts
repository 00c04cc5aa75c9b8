import type { Definition } from './definition/types.ts';
import type { Execution } from './execution.ts';
import { NAME_RETENTION_MS } from './limits.ts';

/** One version of a machine's definition; executions stay on the one they started with. */
export interface Revision {
  readonly id: string;
  readonly definition: Definition;
}

/** A state machine with all definitions that executions may still need. */
export interface Machine {
  readonly arn: string;
  readonly name: string;
  readonly type: 'STANDARD';
  readonly createdAt: number;
  updatedAt: number;
  current: Revision;
  readonly revisions: Map<string, Revision>;
  /** In the order in which they were started. */
  readonly executions: Execution[];
}

/** Machines and executions by ARN. */
export interface Store {
  readonly machines: Map<string, Machine>;
  readonly executions: Map<string, Execution>;
}

export function createStore(): Store {
  return { machines: new Map(), executions: new Map() };
}

/** An execution by ARN; one whose retention is over counts as gone. */
export function findExecution(store: Store, arn: string, now: number): Execution | undefined {
  const execution = store.executions.get(arn);
  if (execution === undefined || !isExpired(execution, now)) return execution;
  removeExecution(store, execution);
  return undefined;
}

/** The service forgets an execution, and frees its name, 90 days after it closed. */
export function isExpired(execution: Execution, now: number): boolean {
  return execution.stoppedAt !== undefined && now >= execution.stoppedAt + NAME_RETENTION_MS;
}

function removeExecution(store: Store, execution: Execution): void {
  store.executions.delete(execution.arn);
  const list = store.machines.get(execution.machineArn)?.executions;
  const index = list?.indexOf(execution) ?? -1;
  if (index >= 0) list?.splice(index, 1);
}
