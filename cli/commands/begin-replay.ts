import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  ExecutionNotRedrivable,
  RedriveExecutionCommand,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { quarantinedInput } from '../../lambdas/aws/quarantine.ts';
import { executionArn, executionName } from '../../lambdas/core/identity.ts';
import { numberOf, type Row, textOf } from '../../lambdas/core/ports.ts';
import { keyOfRow } from '../inbox.ts';
import type { Target } from '../target.ts';

/** A replay that has begun, by its execution, or why none has. */
export type Begun =
  | { readonly arn: string }
  | {
      readonly arn?: undefined;
      readonly result: 'ALREADY_COMPLETED' | 'ALREADY_RUNNING' | 'NOT_POSSIBLE';
      readonly detail: string;
    };

/** Generations of one key that are looked at for one that runs, and for a free name. */
const MAX_GENERATIONS = 50;

/** Begins to replay the key of an inbox row: by a redrive, or a new execution where none is possible or wanted. */
export async function beginReplay(
  row: Row,
  options: { readonly newDefinition: boolean },
  target: Target,
): Promise<Begun> {
  if (row.status === 'COMPLETED') {
    return { result: 'ALREADY_COMPLETED', detail: 'completed is final: nothing was done' };
  }
  const known = textOf(row, 'executionName');
  if (known === undefined) {
    return { result: 'NOT_POSSIBLE', detail: 'it was forgotten: send the work under a new key' };
  }
  const arn = executionArn(target.names.stateMachineArn, known);
  const execution = await describe(arn, target);
  if (execution?.status === 'RUNNING') return underWay(arn);
  // Step Functions forgets an execution 90 days after its end; its case in the quarantine knows the input longer.
  const input =
    execution?.input ?? (await quarantinedInput(target.clients.dynamodb, target.names.tableName, row));
  if (input === undefined) {
    const detail =
      row.status === 'RECEIVED'
        ? 'it was never started: its message is in the queue or the dead-letter queue'
        : 'neither its execution nor its case is left: send the work under a new key';
    return { result: 'NOT_POSSIBLE', detail };
  }
  const generations = await lookAtGenerations(row, target);
  if (generations.running !== undefined) return underWay(generations.running);
  if (execution !== undefined && !options.newDefinition) {
    try {
      await target.clients.sfn.send(new RedriveExecutionCommand({ executionArn: arn }));
      return { arn };
    } catch (error) {
      if (!(error instanceof ExecutionNotRedrivable)) throw error;
      // Somebody was quicker, or it is over 14 days old: then a new one takes over.
      if ((await describe(arn, target))?.status === 'RUNNING') return underWay(arn);
    }
  }
  if (generations.free === undefined) {
    return { result: 'NOT_POSSIBLE', detail: `${MAX_GENERATIONS} replays of it are there already` };
  }
  return start(generations.free, input, target);
}

const underWay = (arn: string): Begun => ({
  result: 'ALREADY_RUNNING',
  detail: `its execution is under way, nothing was done: ${arn}`,
});

async function start(name: string, input: string, target: Target): Promise<Begun> {
  const { stateMachineArn } = target.names;
  try {
    await target.clients.sfn.send(new StartExecutionCommand({ stateMachineArn, name, input }));
    return { arn: executionArn(target.names.stateMachineArn, name) };
  } catch (error) {
    // The name was free a moment ago.
    if (error instanceof ExecutionAlreadyExists)
      return underWay(executionArn(target.names.stateMachineArn, name));
    throw error;
  }
}

/** Executions `-r<n>` of a key: one that runs, and the next free name after those that the row counts. */
async function lookAtGenerations(
  row: Row,
  target: Target,
): Promise<{ readonly running?: string; readonly free?: string }> {
  const style = textOf(row, 'executionName')?.startsWith('key-') ? 'digest' : 'readable';
  const counted = numberOf(row, 'replays') ?? 0;
  const oldest = Math.max(1, counted + 1 - MAX_GENERATIONS);
  for (let replay = oldest; replay <= counted + MAX_GENERATIONS; replay += 1) {
    const name = executionName(keyOfRow(row), { replay, style });
    const arn = executionArn(target.names.stateMachineArn, name);
    const execution = await describe(arn, target);
    if (execution?.status === 'RUNNING') return { running: arn };
    // Redrives are counted too, and have no execution of their own.
    if (execution === undefined && replay > counted) return { free: name };
  }
  return {};
}

async function describe(executionArn: string, { clients }: Target) {
  try {
    return await clients.sfn.send(new DescribeExecutionCommand({ executionArn }));
  } catch (error) {
    if (error instanceof ExecutionDoesNotExist) return undefined;
    throw error;
  }
}
