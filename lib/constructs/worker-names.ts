import { CfnOutput, Lazy, Stack } from 'aws-cdk-lib';
import type { WorkerFunction } from './worker-function.ts';
import type { WorkflowWorker } from './workflow-worker.ts';

/** Id of the output; the last thing that a worker gets. */
export const OUTPUT_ID = 'Names';

/** All functions of a worker, by the names of their parts on the command line. */
export const functionsOf = (worker: WorkflowWorker): Readonly<Record<string, WorkerFunction>> => ({
  starter: worker.starter,
  plan: worker.plan,
  commit: worker.commit,
  'report-failure': worker.reportFailure,
  waker: worker.waker,
  reconciler: worker.reconciler,
  ...Object.fromEntries(Object.entries(worker.providers).map(([name, part]) => [`run-effect-${name}`, part])),
});

/**
 * The output that the command line finds a deployed worker by: a JSON map of its names and ARNs.
 * @param published what is added after the worker is made; read at synthesis
 */
export function outputNames(worker: WorkflowWorker, published: Readonly<Record<string, string>>): CfnOutput {
  const functions = functionsOf(worker);
  const names = {
    workerName: worker.workerName,
    stateMachineArn: worker.stateMachine.stateMachine.stateMachineArn,
    tableName: worker.table.tableName,
    queueUrl: worker.queue.queueUrl,
    queueArn: worker.queue.queueArn,
    dlqUrl: worker.deadLetterQueue.queueUrl,
    dlqArn: worker.deadLetterQueue.queueArn,
    quarantineQueueUrl: worker.quarantineQueue.queueUrl,
    streamFailureQueueUrl: worker.streamFailureQueue.queueUrl,
    payloadBucket: worker.payloadBucket.bucketName,
    stateMachineLogGroup: worker.stateMachine.logGroup.logGroupName,
    eventSourceId: worker.eventSource.eventSourceMappingId,
    functions: Object.fromEntries(
      Object.entries(functions).map(([name, part]) => [name, part.function.functionName]),
    ),
    logGroups: Object.fromEntries(
      Object.entries(functions).map(([name, part]) => [name, part.logGroup.logGroupName]),
    ),
  };
  return new CfnOutput(worker, OUTPUT_ID, {
    description: `Names and ARNs of the worker ${worker.workerName}, read by the stepwell command`,
    value: Lazy.string({ produce: () => Stack.of(worker).toJsonString({ ...names, ...published }) }),
  });
}
