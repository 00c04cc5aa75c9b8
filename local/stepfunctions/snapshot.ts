import type { Execution } from './execution.ts';
import type { Store } from './store.ts';

/** All state as plain JSON data. */
export interface Snapshot {
  readonly version: 1;
  readonly machines: readonly MachineSnapshot[];
  readonly executions: readonly Execution[];
}

interface MachineSnapshot {
  readonly arn: string;
  readonly name: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly currentRevision: string;
  readonly revisions: readonly { readonly id: string; readonly definition: string }[];
}

/** Copies the store: machines with the definitions that executions still need, and every execution. */
export function takeSnapshot(store: Store): Snapshot {
  const executions = [...store.executions.values()];
  const needed = new Set(executions.map((execution) => execution.revisionId));
  const machines = [...store.machines.values()].map((machine) => ({
    arn: machine.arn,
    name: machine.name,
    createdAt: machine.createdAt,
    updatedAt: machine.updatedAt,
    currentRevision: machine.current.id,
    revisions: [...machine.revisions.values()]
      .filter(({ id }) => id === machine.current.id || needed.has(id))
      .map(({ id, definition }) => ({ id, definition: definition.text })),
  }));
  return { version: 1, machines, executions: structuredClone(executions) };
}
