import { Duration } from 'aws-cdk-lib';
import {
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Operation } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import type { MetricName } from '../../lambdas/core/telemetry.ts';
import { type WorkerMetricOptions, workerMetric, workerMetricBy } from './worker-metrics.ts';
import { functionLogGroups, type LogQueryName, queryLines } from './worker-queries.ts';
import type { WorkflowWorker } from './workflow-worker.ts';

/** Properties of {@link WorkerDashboard}. */
export interface WorkerDashboardProps {
  /** The worker that is shown. */
  readonly worker: WorkflowWorker;
  /**
   * Where the runbooks are; `#<section>` is appended.
   * @default 'docs/runbooks.md'
   */
  readonly runbookUrl?: string;
}

/** The questions to ask when a backlog rises, in the order of the runbook. Each is the title of a widget. */
export const BACKLOG_QUESTIONS = [
  '1 Is the producer’s rate normal?',
  '2 Is the consumer running?',
  '3 Is the error rate rising?',
  '4 Is the database slow?',
  '5 Are receives rising?',
  '6 Is the dead-letter queue growing?',
  '7 Is the oldest message older than promised?',
  '8 Is one tenant or aggregate hot?',
  '9 Did a deployment change payloads or schemas?',
  '10 Is a dependency limiting us?',
] as const;
type BacklogQuestion = (typeof BACKLOG_QUESTIONS)[number];

const WIDTH = 12;
const HEIGHT = 6;
const MINUTE = Duration.minutes(1);

/** One screen that answers the backlog runbook's questions in their order. */
export class WorkerDashboard extends Construct {
  readonly dashboard: Dashboard;

  readonly #worker: WorkflowWorker;

  constructor(scope: Construct, id: string, props: WorkerDashboardProps) {
    super(scope, id);
    this.#worker = props.worker;
    this.dashboard = new Dashboard(this, 'Dashboard', { defaultInterval: Duration.hours(3) });
    props.worker.publishName('dashboardName', this.dashboard.dashboardName, this);
    this.dashboard.addWidgets(
      new TextWidget({
        width: 2 * WIDTH,
        height: 2,
        markdown: `# ${props.worker.workerName}\nA backlog rises? Do not scale first; ask from 1 to 10. [Runbook](${props.runbookUrl ?? 'docs/runbooks.md'}#backlog)`,
      }),
    );
    const rows = [this.#flow(), this.#troubles(), this.#waiting(), this.#causes()];
    for (const widgets of rows) this.dashboard.addWidgets(...widgets);
  }

  #metric(name: MetricName, options: WorkerMetricOptions = {}): IMetric {
    return workerMetric(this.#worker.workerName, name, { label: name, ...options });
  }

  #flow(): readonly IWidget[] {
    const { queue, starter, stateMachine } = this.#worker;
    const { stateMachine: machine } = stateMachine;
    return [
      graph(BACKLOG_QUESTIONS[0], [queue.metricNumberOfMessagesSent({ period: MINUTE, label: 'sent' })]),
      graph(
        BACKLOG_QUESTIONS[1],
        [
          starter.function.metricInvocations({ period: MINUTE, label: 'starter invocations' }),
          starter.function.metricThrottles({ period: MINUTE, label: 'starter throttles' }),
          this.#metric('MessagesStarted'),
          this.#metric('MessagesCompleted'),
          workerMetricBy(this.#worker.workerName, 'DuplicatesDropped', ['kind']),
          machine.metricStarted({ period: MINUTE, label: 'executions started' }),
        ],
        [
          this.#metric('InFlight', { statistic: 'Maximum' }),
          this.#metric('BreakerOpen', { statistic: 'Maximum' }),
        ],
      ),
    ];
  }

  #troubles(): readonly IWidget[] {
    const { workerName, plan, starter, table, stateMachine } = this.#worker;
    return [
      graph(BACKLOG_QUESTIONS[2], [
        workerMetricBy(workerName, 'RetryableFailures', ['code']),
        workerMetricBy(workerName, 'TerminalFailures', ['code']),
        this.#metric('Quarantined'),
        this.#metric('InvalidMessages'),
        this.#metric('HashMismatches'),
        starter.function.metricErrors({ period: MINUTE, label: 'starter errors' }),
        plan.function.metricErrors({ period: MINUTE, label: 'plan errors' }),
        stateMachine.stateMachine.metricFailed({
          period: MINUTE,
          statistic: 'Sum',
          label: 'executions failed',
        }),
      ]),
      graph(
        BACKLOG_QUESTIONS[3],
        [
          this.#metric('CommitLatency', { statistic: 'p50', label: 'CommitLatency p50' }),
          this.#metric('CommitLatency', { statistic: 'p99', label: 'CommitLatency p99' }),
        ],
        [
          workerMetricBy(workerName, 'CommitConflicts', ['kind']),
          table.metricThrottledRequestsForOperations({
            operations: [Operation.PUT_ITEM, Operation.UPDATE_ITEM, Operation.TRANSACT_WRITE_ITEMS],
            period: MINUTE,
            label: 'throttled writes',
          }),
        ],
      ),
    ];
  }

  #waiting(): readonly IWidget[] {
    const { queue, deadLetterQueue, quarantineQueue, waker } = this.#worker;
    const visible = { period: MINUTE, statistic: 'Maximum' };
    return [
      graph(BACKLOG_QUESTIONS[4], [
        this.#metric('ReceiveCount', { statistic: 'Average', label: 'ReceiveCount average' }),
        this.#metric('ReceiveCount', { statistic: 'Maximum', label: 'ReceiveCount maximum' }),
      ]),
      graph(BACKLOG_QUESTIONS[5], [
        deadLetterQueue.metricApproximateNumberOfMessagesVisible({ ...visible, label: 'dead letters' }),
        quarantineQueue.metricApproximateNumberOfMessagesVisible({ ...visible, label: 'quarantine notices' }),
      ]),
      graph(
        BACKLOG_QUESTIONS[6],
        [
          queue.metricApproximateAgeOfOldestMessage({ ...visible, label: 'oldest message (s)' }),
          this.#metric('OrderingGapSeconds', { statistic: 'Maximum' }),
        ],
        [
          queue.metricApproximateNumberOfMessagesVisible({ ...visible, label: 'waiting' }),
          this.#metric('Parked'),
          waker.function.metric('IteratorAge', { ...visible, label: 'stream lag (ms)' }),
          this.#metric('EndToEndLatency', { statistic: 'p99', label: 'EndToEndLatency p99' }),
        ],
      ),
      this.#logs(`${BACKLOG_QUESTIONS[7]} Tenants`, 'hot-tenant'),
      this.#logs(`${BACKLOG_QUESTIONS[7]} Aggregates`, 'hot-aggregate'),
    ];
  }

  #causes(): readonly IWidget[] {
    const { workerName } = this.#worker;
    return [
      this.#logs(BACKLOG_QUESTIONS[8], 'failures-by-release'),
      graph(
        BACKLOG_QUESTIONS[9],
        [
          workerMetricBy(workerName, 'EffectCalls', ['provider', 'result']),
          workerMetricBy(workerName, 'EffectCacheHits', ['provider']),
          workerMetricBy(workerName, 'EffectsInDoubt', ['provider']),
          this.#metric('StartsThrottled'),
        ],
        [workerMetricBy(workerName, 'EffectLatency', ['provider', 'source'], 'p99')],
      ),
    ];
  }

  #logs(title: string, query: LogQueryName): LogQueryWidget {
    return new LogQueryWidget({
      title,
      width: WIDTH,
      height: HEIGHT,
      view: LogQueryVisualizationType.TABLE,
      logGroupNames: functionLogGroups(this.#worker).map(({ logGroupName }) => logGroupName),
      queryLines: [...queryLines(query)],
    });
  }
}

const graph = (
  title: BacklogQuestion,
  left: readonly IMetric[],
  right: readonly IMetric[] = [],
): GraphWidget =>
  new GraphWidget({ title, width: WIDTH, height: HEIGHT, left: [...left], right: [...right] });
