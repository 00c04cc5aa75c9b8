import type { FilterPattern, LambdaFunction } from './event-sources/index.ts';
import type { WorkerNames } from './names.ts';

/** Where a deployed worker finds what it works with. */
export interface DeploymentPlace {
  readonly names: WorkerNames;
  /** URL of all embedded services, on loopback. */
  readonly endpoint: string;
  /** The mapping between the queue and the starter. */
  readonly eventSourceId: string;
}

/** A worker as it was deployed: its functions, its state machine and what reaches its waker. */
export interface Deployment {
  /** Every function of the worker, by the names in {@link FUNCTION_NAMES} and of {@link runEffectName}. */
  readonly functions: Readonly<Record<string, LambdaFunction>>;
  /** Text of the state machine's definition, with values in place of its placeholders. */
  readonly definition: string;
  /** Filter patterns between the table's stream and the waker. */
  readonly streamFilters: readonly FilterPattern[];
  /** Ends whatever runs the functions. */
  stop(): Promise<void>;
}
