import { RedriveExecutionCommand } from '@aws-sdk/client-sfn';
import type { TestWorker } from './worker.ts';

/** What the console's Redrive button does, and waits for the outcome. */
export async function redrive(worker: TestWorker, idempotencyKey: string): Promise<void> {
  const { arn } = await worker.execution(idempotencyKey);
  await worker.clients.sfn.send(new RedriveExecutionCommand({ executionArn: arn }));
  await worker.untilIdle();
}
