import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import { EventSourceMapping, FilterCriteria, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { type StreamSettings, streamFilters } from '../../lambdas/core/stream.ts';
import { STATUS_CHANGE_RULE, SWEEP_MINUTES } from '../../lambdas/reconciler/handler.ts';
import type { WorkflowWorker } from './workflow-worker.ts';

/** After so many tries a change is given up: its record goes to a queue that an operator reads. */
const STREAM_RETRIES = 10;

/** Sends the table's changes to the waker. */
export function connectStream(worker: WorkflowWorker, settings: StreamSettings): void {
  const { tableStreamArn } = worker.table;
  // The props were checked: every table that gets here has a stream.
  if (tableStreamArn === undefined) return;
  new EventSourceMapping(worker, 'Changes', {
    target: worker.waker.function,
    eventSourceArn: tableStreamArn,
    startingPosition: StartingPosition.TRIM_HORIZON,
    batchSize: 100,
    bisectBatchOnError: true,
    retryAttempts: STREAM_RETRIES,
    reportBatchItemFailures: true,
    // No grant here: the waker's role is given its right together with all others.
    onFailure: { bind: () => ({ destination: worker.streamFailureQueue.queueArn }) },
    filters: streamFilters(settings).map((pattern) => FilterCriteria.filter({ ...pattern })),
  });
}

/** Step Functions sends status events as best it can: a schedule finds the executions whose event was lost. */
export function connectReconciler(worker: WorkflowWorker): void {
  const { stateMachineArn } = worker.stateMachine.stateMachine;
  const target = () => new LambdaTarget(worker.reconciler.function, { retryAttempts: 3 });
  new Rule(worker, 'ClosedExecutions', {
    description: 'Executions that ended unsuccessfully, to the reconciler',
    eventPattern: {
      source: [STATUS_CHANGE_RULE.source],
      detailType: [STATUS_CHANGE_RULE.detailType],
      detail: { stateMachineArn: [stateMachineArn], status: [...STATUS_CHANGE_RULE.statuses] },
    },
    targets: [target()],
  });
  new Rule(worker, 'Sweep', {
    description: 'The reconciler’s sweep',
    schedule: Schedule.rate(Duration.minutes(SWEEP_MINUTES)),
    targets: [target()],
  });
}
