import { localNames, type WorkerNames } from '../local/names.ts';
import { CliError } from './cli-error.ts';
import { EXIT } from './exit-codes.ts';

/**
 * What is known of a worker by name. The optional ones are a deployed worker's; a local runtime has no such
 * resources, and a stack of an older release does not name them all.
 */
export interface TargetNames extends WorkerNames {
  readonly streamFailureQueueUrl?: string;
  readonly eventSourceId?: string;
  readonly stateMachineLogGroup?: string;
  /** Function names by the function's part: `starter`, `plan`, …, `run-effect-<provider>`. */
  readonly functions?: Readonly<Record<string, string>>;
  readonly logGroups?: Readonly<Record<string, string>>;
  readonly dashboardName?: string;
}

/** Whether the worker's queue is a FIFO queue: SQS knows them by their names. */
export const isFifo = ({ queueUrl }: TargetNames): boolean => queueUrl.endsWith('.fifo');

/** What no command can do without. */
const REQUIRED = Object.keys(localNames('any', false));

/** A worker's output is a JSON map of its names; a stack's other outputs are of no concern. */
export function parseNames(output: string | undefined): readonly TargetNames[] {
  if (output === undefined || !output.startsWith('{')) return [];
  try {
    const value = JSON.parse(output);
    return typeof value.workerName === 'string' && typeof value.stateMachineArn === 'string' ? [value] : [];
  } catch {
    return [];
  }
}

/** @throws CliError naming the workers to choose from, or what the chosen one's output lacks */
export function chooseWorker(
  stack: string,
  workers: readonly TargetNames[],
  wanted: string | undefined,
): TargetNames {
  if (workers.length === 0) {
    throw new CliError(
      `Stack ${stack} holds no Stepwell worker: none of its outputs is a worker's map of names. Name the stack that the construct WorkflowWorker is in`,
      EXIT.NOT_FOUND,
    );
  }
  const found = wanted === undefined ? workers : workers.filter(({ workerName }) => workerName === wanted);
  const [only, another] = found;
  const all = workers.map(({ workerName }) => workerName).join(', ');
  if (only === undefined) {
    throw new CliError(`Stack ${stack} has no worker ${wanted}; its workers: ${all}`, EXIT.NOT_FOUND);
  }
  if (another !== undefined) {
    throw new CliError(`Stack ${stack} has several workers; choose one by --worker: ${all}`);
  }
  const missing = REQUIRED.filter((name) => typeof Object(only)[name] !== 'string');
  if (missing.length > 0) {
    throw new CliError(
      `The worker ${only.workerName} of stack ${stack} was deployed by an older release: its output lacks ${missing.join(', ')}. Deploy the stack again`,
    );
  }
  return only;
}
