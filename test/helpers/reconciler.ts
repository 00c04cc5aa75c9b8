import { InvokeCommand } from '@aws-sdk/client-lambda';
import { StopExecutionCommand } from '@aws-sdk/client-sfn';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { FUNCTION_NAMES } from '../../local/functions.ts';
import { allRows, quarantineRows } from './invariants.ts';
import type { TestWorker } from './worker.ts';
import type { AskedWorker } from './worker-questions.ts';

/** Aborts the key's execution, as the console's Stop button does. */
export async function abort(worker: AskedWorker, idempotencyKey: string): Promise<void> {
  const { arn } = await worker.execution(idempotencyKey);
  await worker.clients.sfn.send(new StopExecutionCommand({ executionArn: arn }));
}

/** Invokes the reconciler and waits for its end; throws what it threw. */
export async function reconcile(worker: AskedWorker, event: object): Promise<void> {
  const { FunctionError, Payload } = await worker.clients.lambda.send(
    new InvokeCommand({ FunctionName: FUNCTION_NAMES.reconciler, Payload: JSON.stringify(event) }),
  );
  if (FunctionError !== undefined) throw new Error(Buffer.from(Payload ?? []).toString());
}

/** The event of an execution's end, as EventBridge delivers it when input and output are above 248 KiB. */
export async function closedEvent(worker: AskedWorker, idempotencyKey: string) {
  const { arn } = await worker.execution(idempotencyKey);
  return {
    source: 'aws.states',
    detail: { executionArn: arn, name: arn.slice(arn.lastIndexOf(':') + 1), input: null },
  };
}

export const SWEEP = { source: 'aws.events' } as const;

/** The quarantine's cases. */
export const cases = async (worker: AskedWorker) => quarantineRows(await allRows(worker));

/** Takes the quarantine queue's messages. */
export async function announced(worker: AskedWorker): Promise<readonly Record<string, unknown>[]> {
  const { Messages = [] } = await worker.clients.sqs.send(
    new ReceiveMessageCommand({ QueueUrl: worker.names.quarantineQueueUrl, MaxNumberOfMessages: 10 }),
  );
  return Messages.map(({ Body }) => JSON.parse(Body ?? ''));
}

/** Waits until the key's execution has entered the state and stays there. */
export function untilIn(worker: TestWorker, idempotencyKey: string, state: string): Promise<void> {
  return worker.until(async () => {
    if ((await worker.executions()) === 0) return false;
    return (await worker.execution(idempotencyKey)).states.at(-1) === state;
  });
}
