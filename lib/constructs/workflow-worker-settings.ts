import { Duration } from 'aws-cdk-lib';
import { type IQueue, Queue } from 'aws-cdk-lib/aws-sqs';
import type { DomainTables } from '../../lambdas/core/domain-table.ts';
import type { WorkflowWorkerProps } from './workflow-worker-props.ts';

/** The props with every default filled in. */
export type ResolvedSettings = ReturnType<typeof resolveSettings>;

/** Times the function's time-out: what Lambda's documentation asks of a queue's visibility time-out. */
export const VISIBILITY_FACTOR = 6;

/** Least `maxReceiveCount`: overload counts as receives, and below this it fills the dead-letter queue. */
export const LEAST_RECEIVES = 5;

/** Puts the defaults under the caller's props. */
export function resolveSettings(id: string, props: WorkflowWorkerProps) {
  const functionTimeout = props.functionTimeout ?? Duration.seconds(30);
  const maxBatchingWindow = props.maxBatchingWindow ?? Duration.seconds(0);
  const leastVisibility = secondsOf(functionTimeout) * VISIBILITY_FACTOR + secondsOf(maxBatchingWindow);
  return {
    workerName: props.workerName ?? id,
    production: (props.profile ?? 'production') === 'production',
    fifo: props.fifo ?? props.queue?.fifo ?? false,
    batchSize: props.batchSize ?? 10,
    maxBatchingWindow,
    functionTimeout,
    leastVisibility,
    visibilityTimeout: props.visibilityTimeout ?? Duration.seconds(leastVisibility),
    maxReceiveCount: props.maxReceiveCount ?? 100,
    maxConcurrency: props.maxConcurrency ?? 10,
    invalidMessages: props.invalidMessages ?? 'dlq',
    invalidReceives: props.invalidReceives ?? 3,
    inboxRetentionDays: props.inboxRetentionDays ?? 90,
    outboxRetentionDays: props.outboxRetentionDays ?? 7,
    executionTimeout: props.executionTimeout ?? Duration.days(7),
    stepTimeout: props.stepTimeout ?? Duration.seconds(30),
    resolutionTimeout: props.resolutionTimeout ?? Duration.days(1),
    queueRetention: props.queueRetention ?? Duration.days(7),
    dlqRetention: props.dlqRetention ?? Duration.days(14),
    providers: props.providers ?? [],
  };
}

/** Seconds, with a fraction where there is one: the checks refuse it together with whatever else is wrong. */
export const secondsOf = (duration: Duration): number => duration.toSeconds({ integral: false });

/** The dead-letter queue of an imported queue: the one passed, or the one that the queue was defined with. */
export function deadLetterQueueOf(props: WorkflowWorkerProps): IQueue | undefined {
  const { queue } = props;
  return props.deadLetterQueue ?? (queue instanceof Queue ? queue.deadLetterQueue?.queue : undefined);
}

/** The domain's tables as Plan is told of them. */
export function domainTables({ aggregates = {} }: WorkflowWorkerProps): DomainTables {
  const tables = Object.entries(aggregates).map(
    ([type, { table, key, versionAttribute }]) =>
      [type, { table: table.tableName, key, versionAttribute }] as const,
  );
  return Object.fromEntries(tables);
}
