import { CfnOutput, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { EventBus, type IEventBus } from 'aws-cdk-lib/aws-events';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { findAlarmFaults } from './constructs/alarms/alarm-faults.ts';
import { OperatorPolicy } from './constructs/operator-policy.ts';
import { findSourceFaults, findTargetFaults, OutboxPipe } from './constructs/outbox-pipe.ts';
import { WorkerAlarms, type WorkerAlarmsProps } from './constructs/worker-alarms.ts';
import { WorkerDashboard } from './constructs/worker-dashboard.ts';
import { WorkerQueries } from './constructs/worker-queries.ts';
import { findWorkerFaults, WorkflowWorker } from './constructs/workflow-worker.ts';
import type { WorkflowWorkerProps } from './constructs/workflow-worker-props.ts';
import { type Fault, throwFaults } from './faults.ts';

const WORKER_ID = 'Worker';

/** Properties of {@link WorkerStack}. */
export interface WorkerStackProps extends StackProps {
  /** The worker's own props. */
  readonly worker: WorkflowWorkerProps;
  /**
   * Thresholds of the alarms, and the topic they go to.
   * @default each alarm's own threshold, and a new topic
   */
  readonly alarms?: Omit<WorkerAlarmsProps, 'worker' | 'outbox'>;
  /**
   * Where the events of plans are published: another worker's queue, a bus, or the name of a bus of this account and
   * Region, `default` being the account's own.
   * @default none: no pipe; outbox rows expire unpublished
   */
  readonly outboxTarget?: IQueue | IEventBus | EventBus | string;
}

/** One worker in a stack of its own, with alarms, dashboard, saved log queries and a policy for its operators. */
export class WorkerStack extends Stack {
  readonly worker: WorkflowWorker;
  /** Subscribe somebody to its topic. */
  readonly alarms: WorkerAlarms;
  readonly dashboard: WorkerDashboard;
  /** Attach its policy to those who operate the worker. */
  readonly operators: OperatorPolicy;
  /** Undefined without an `outboxTarget`. */
  readonly outbox: OutboxPipe | undefined;

  /** @throws ConfigurationError naming every fault of the props, with rule and remedy */
  constructor(scope: Construct, id: string, props: WorkerStackProps) {
    const { worker: workerProps, alarms, outboxTarget, ...stackProps } = props;
    super(scope, id, stackProps);
    throwFaults(this.node.path, findStackFaults(this, props));
    const worker = new WorkflowWorker(this, WORKER_ID, workerProps);
    this.worker = worker;
    const { encryptionKey, maxInFlight } = workerProps;
    const key = encryptionKey === undefined ? {} : { encryptionKey };
    this.outbox =
      outboxTarget === undefined
        ? undefined
        : new OutboxPipe(this, 'Outbox', {
            table: worker.table,
            target:
              typeof outboxTarget === 'string'
                ? EventBus.fromEventBusName(this, 'OutboxBus', outboxTarget)
                : outboxTarget,
            ...key,
            ...(workerProps.profile === 'development' ? { removalPolicy: RemovalPolicy.DESTROY } : {}),
          });
    this.alarms = new WorkerAlarms(this, 'Alarms', {
      ...key,
      ...(maxInFlight === undefined ? {} : { maxInFlight }),
      ...alarms,
      worker,
      ...(this.outbox === undefined ? {} : { outbox: this.outbox }),
    });
    const runbookUrl = alarms?.runbookUrl;
    this.dashboard = new WorkerDashboard(this, 'Dashboard', {
      worker,
      ...(runbookUrl === undefined ? {} : { runbookUrl }),
    });
    new WorkerQueries(this, 'Queries', { worker });
    this.operators = new OperatorPolicy(this, 'Operators', {
      worker,
      dashboard: this.dashboard.dashboard,
    });
    new CfnOutput(this, 'DashboardName', { value: this.dashboard.dashboard.dashboardName });
    new CfnOutput(this, 'AlarmTopicArn', { value: this.alarms.topic.topicArn });
    new CfnOutput(this, 'OperatorPolicyArn', { value: this.operators.policy.managedPolicyArn });
  }
}

/** What is wrong with worker, alarms and outbox, before the first of them is made: it would report its own only. */
function findStackFaults(stack: WorkerStack, { worker, alarms, outboxTarget }: WorkerStackProps) {
  const stream = worker.table?.tableStreamArn;
  const providers = (worker.providers ?? []).map(({ name }) => name);
  const outbox =
    outboxTarget === undefined
      ? []
      : [
          ...(stream === undefined ? [] : below('worker.', findSourceFaults(stack, stream))),
          ...(typeof outboxTarget === 'string' ? [] : findTargetFaults(outboxTarget)).map((fault) => ({
            ...fault,
            prop: 'outboxTarget',
          })),
        ];
  return [
    ...below('worker.', findWorkerFaults(stack, WORKER_ID, worker)),
    ...below('alarms.', findAlarmFaults(alarms ?? {}, providers)),
    ...outbox,
  ];
}

const below = (prefix: string, faults: readonly Fault[]): readonly Fault[] =>
  faults.map((fault) => ({ ...fault, prop: `${prefix}${fault.prop}` }));
