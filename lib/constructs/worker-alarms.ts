import { Aws, Duration } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { OutboxPipe } from './outbox-pipe.ts';
import type { WorkerFunction } from './worker-function.ts';
import { workerMetric } from './worker-metrics.ts';
import type { WorkflowWorker } from './workflow-worker.ts';

/** Properties of {@link WorkerAlarms}. */
export interface WorkerAlarmsProps {
  /** The worker that is watched. */
  readonly worker: WorkflowWorker;
  /**
   * Where alarms are sent.
   * @default a new topic, to which somebody must subscribe
   */
  readonly topic?: ITopic;
  /**
   * Key of the new topic. Its policy must let CloudWatch use it; that of a key defined in this app is extended.
   * @default no key: alarms carry no message content
   */
  readonly encryptionKey?: IKey;
  /**
   * Where the runbooks are; `#<section>` is appended.
   * @default 'docs/runbooks.md'
   */
  readonly runbookUrl?: string;
  /**
   * Messages waiting in the queue for 5 minutes.
   * @default 1000
   */
  readonly backlogMessages?: number;
  /**
   * Age of the oldest message in the queue.
   * @default Duration.minutes(15)
   */
  readonly oldestMessage?: Duration;
  /**
   * How long a missing predecessor may be waited for.
   * @default Duration.hours(1)
   */
  readonly orderingGap?: Duration;
  /**
   * The worker's `maxInFlight`: an alarm at 90 % of it.
   * @default none: no limit, no alarm
   */
  readonly maxInFlight?: number;
  /**
   * The outbox pipe: an alarm when something could not be published.
   * @default none
   */
  readonly outbox?: OutboxPipe;
  /**
   * Time-out of the starter: an alarm when the slowest hundredth of batches needs 80 % of it.
   * @default the starter's own
   */
  readonly starterTimeout?: Duration;
  /**
   * Share of answers that should come from the effect log, in percent, by provider.
   * @default none
   */
  readonly leastCacheHitPercent?: Readonly<Record<string, number>>;
  /**
   * Messages a day above which somebody should look at the bill: every cost but the fixed ones grows with them.
   * @default none
   */
  readonly mostMessagesPerDay?: number;
}

/** Sections of docs/runbooks.md that alarms lead to. */
export const RUNBOOK_SECTIONS = ['backlog', 'dlq', 'quarantine', 'stuck', 'in-doubt', 'throttled'] as const;
export type RunbookSection = (typeof RUNBOOK_SECTIONS)[number];

interface Rule {
  readonly section: RunbookSection;
  readonly what: string;
  readonly metric: IMetric;
  /** Alarms at this value. */
  readonly from: number;
  /** Minutes in a row. @default 1 */
  readonly minutes?: number;
  readonly below?: true;
}

const MINUTE = Duration.minutes(1);

/**
 * The alarms of a worker, on one topic. Each says in its description what it means, which section of the runbooks
 * goes on from there, and where in the console to look.
 */
export class WorkerAlarms extends Construct {
  readonly topic: ITopic;
  readonly alarms: Readonly<Record<string, Alarm>>;

  readonly #props: WorkerAlarmsProps;

  constructor(scope: Construct, id: string, props: WorkerAlarmsProps) {
    super(scope, id);
    this.#props = props;
    this.topic = props.topic ?? this.#newTopic();
    const action = new SnsAction(this.topic);
    this.alarms = Object.fromEntries(
      Object.entries(this.#rules()).map(([name, rule]) => {
        const alarm = new Alarm(this, name, {
          metric: rule.metric,
          threshold: rule.from,
          evaluationPeriods: rule.minutes ?? 1,
          comparisonOperator:
            rule.below === true
              ? ComparisonOperator.LESS_THAN_THRESHOLD
              : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
          treatMissingData: TreatMissingData.NOT_BREACHING,
          alarmDescription: this.#describe(rule),
        });
        alarm.addAlarmAction(action);
        alarm.addOkAction(action);
        return [name, alarm] as const;
      }),
    );
  }

  #newTopic(): Topic {
    const { encryptionKey } = this.#props;
    // Without the grant, an alarm on a topic with a customer key fails silently.
    encryptionKey?.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
        resources: ['*'],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    );
    return new Topic(this, 'Topic', {
      enforceSSL: true,
      ...(encryptionKey === undefined ? {} : { masterKey: encryptionKey }),
    });
  }

  #describe({ section, what }: Rule): string {
    const { worker, runbookUrl = 'docs/runbooks.md' } = this.#props;
    const machine = worker.stateMachine.stateMachine.stateMachineArn;
    const console = `https://${Aws.REGION}.console.aws.amazon.com/states/home?region=${Aws.REGION}#/statemachines/view/${machine}`;
    return `${worker.workerName}: ${what}. Runbook: ${runbookUrl}#${section} Executions: ${console}`;
  }

  #rules(): Readonly<Record<string, Rule>> {
    return {
      ...this.#queueRules(),
      ...this.#functionRules(),
      ...this.#executionRules(),
      ...this.#effectRules(),
      ...this.#loadRules(),
    };
  }

  #queueRules(): Readonly<Record<string, Rule>> {
    const { worker, outbox, backlogMessages = 1_000, oldestMessage = Duration.minutes(15) } = this.#props;
    const visible = { period: MINUTE, statistic: 'Maximum' };
    return {
      ...(outbox === undefined
        ? {}
        : {
            Unpublished: {
              section: 'stuck' as const,
              what: 'events could not be published; their rows are in the table',
              metric: outbox.deadLetterQueue.metricApproximateNumberOfMessagesVisible(visible),
              from: 1,
            },
          }),
      DeadLetters: {
        section: 'dlq',
        what: 'messages that could not be read or started lie in the dead-letter queue',
        metric: worker.deadLetterQueue.metricApproximateNumberOfMessagesVisible(visible),
        from: 1,
      },
      QuarantineOpen: {
        section: 'quarantine',
        what: 'work has failed for good and waits for a person; the queue is the notice, the table has the case',
        metric: worker.quarantineQueue.metricApproximateNumberOfMessagesVisible(visible),
        from: 1,
      },
      CasesOpen: {
        section: 'quarantine',
        what: 'cases in the table are open, whatever has become of their notices',
        // Each sweep counts today, yesterday and one older day in turn: eight hours see all 90 days.
        metric: workerMetric(worker.workerName, 'OpenCases', {
          statistic: 'Maximum',
          period: Duration.hours(8),
        }),
        from: 1,
      },
      StreamFailures: {
        section: 'stuck',
        what: 'changes of the table could not be dealt with; executions that wait are woken late',
        metric: worker.streamFailureQueue.metricApproximateNumberOfMessagesVisible(visible),
        from: 1,
      },
      Backlog: {
        section: 'backlog',
        what: `${backlogMessages} or more messages have waited for 5 minutes`,
        metric: worker.queue.metricApproximateNumberOfMessagesVisible(visible),
        from: backlogMessages,
        minutes: 5,
      },
      OldestMessage: {
        section: 'backlog',
        what: `the oldest message is ${oldestMessage.toMinutes()} minutes old or more`,
        metric: worker.queue.metricApproximateAgeOfOldestMessage(visible),
        from: oldestMessage.toSeconds(),
        minutes: 3,
      },
    };
  }

  #functionRules(): Readonly<Record<string, Rule>> {
    const { worker } = this.#props;
    const { starter, plan, commit, reportFailure, waker, reconciler } = worker;
    // Commit, ReportFailure and RunEffect also throw to route an execution: their failures show as its failures.
    const throwing: Readonly<Record<string, WorkerFunction>> = {
      Starter: starter,
      Plan: plan,
      Waker: waker,
      Reconciler: reconciler,
    };
    const providers = Object.entries(worker.providers).map(
      ([name, part]) => [`RunEffect${name}`, part] as const,
    );
    const all = {
      ...throwing,
      Commit: commit,
      ReportFailure: reportFailure,
      ...Object.fromEntries(providers),
    };
    const errors = Object.entries(throwing).map(([name, part]): [string, Rule] => [
      `${name}Errors`,
      {
        section: 'stuck',
        what: `the function ${name} fails`,
        metric: part.function.metricErrors({ period: MINUTE }),
        from: 1,
        minutes: 3,
      },
    ]);
    const throttles = Object.entries(all).map(([name, part]): [string, Rule] => [
      `${name}Throttles`,
      {
        section: 'throttled',
        what: `the function ${name} is throttled: the account's or its own concurrency is used up`,
        metric: part.function.metricThrottles({ period: MINUTE }),
        from: 1,
        minutes: 3,
      },
    ]);
    const timeout = this.#props.starterTimeout ?? starter.timeout;
    return {
      ...Object.fromEntries([...errors, ...throttles]),
      StarterSlow: {
        section: 'backlog',
        what: 'the slowest batches need 80 % of the time-out from which the visibility time-out is derived',
        metric: starter.function.metricDuration({ period: MINUTE, statistic: 'p99' }),
        from: timeout.toMilliseconds() * 0.8,
        minutes: 3,
      },
      StreamLag: {
        section: 'stuck',
        what: 'the stream consumer is a minute behind: executions that wait are woken late',
        metric: waker.function.metric('IteratorAge', { period: MINUTE, statistic: 'Maximum' }),
        from: MINUTE.toMilliseconds(),
        minutes: 5,
      },
    };
  }

  #executionRules(): Readonly<Record<string, Rule>> {
    const { worker, orderingGap = Duration.hours(1) } = this.#props;
    const machine = worker.stateMachine.stateMachine;
    return {
      ExecutionsFailed: {
        section: 'quarantine',
        what: 'executions have failed, each under the code of its failure',
        metric: machine.metricFailed({ period: MINUTE, statistic: 'Sum' }),
        from: 1,
      },
      ExecutionsAborted: {
        section: 'stuck',
        what: 'executions were stopped by hand; the reconciler makes each a case',
        metric: machine.metricAborted({ period: MINUTE, statistic: 'Sum' }),
        from: 1,
      },
      ExecutionsTimedOut: {
        section: 'stuck',
        what: 'executions have run out of time; the reconciler makes each a case',
        metric: machine.metricTimedOut({ period: MINUTE, statistic: 'Sum' }),
        from: 1,
      },
      HashMismatches: {
        section: 'dlq',
        what: 'a known key has come with other content: a producer reuses keys',
        metric: workerMetric(worker.workerName, 'HashMismatches'),
        from: 1,
      },
      OrderingGap: {
        section: 'stuck',
        what: `a predecessor has been missing for ${orderingGap.toMinutes()} minutes or more`,
        metric: workerMetric(worker.workerName, 'OrderingGapSeconds', { statistic: 'Maximum' }),
        from: orderingGap.toSeconds(),
      },
    };
  }

  #effectRules(): Readonly<Record<string, Rule>> {
    const { worker, leastCacheHitPercent = {} } = this.#props;
    const inDoubt = Object.keys(worker.providers).map((provider): [string, Rule] => [
      `InDoubt${provider}`,
      {
        section: 'in-doubt',
        what: `a call of ${provider} may or may not have happened: a person has to say`,
        metric: workerMetric(worker.workerName, 'EffectsInDoubt', { dimensions: { provider } }),
        from: 1,
      },
    ]);
    const caches = Object.entries(leastCacheHitPercent).map(([provider, percent]): [string, Rule] => [
      `CacheHits${provider}`,
      {
        section: 'throttled',
        what: `less than ${percent} % of the answers of ${provider} come from the effect log`,
        metric: this.#cacheHitPercent(provider),
        from: percent,
        minutes: 3,
        below: true,
      },
    ]);
    return Object.fromEntries([...inDoubt, ...caches]);
  }

  #cacheHitPercent(provider: string): MathExpression {
    const { workerName } = this.#props.worker;
    const period = Duration.minutes(5);
    const metric = (name: 'EffectCacheHits' | 'EffectCalls', dimensions: Record<string, string>) =>
      workerMetric(workerName, name, { period, dimensions: { provider, ...dimensions } });
    return new MathExpression({
      expression: '100 * FILL(hits, 0) / (FILL(hits, 0) + FILL(calls, 0))',
      usingMetrics: {
        hits: metric('EffectCacheHits', {}),
        calls: metric('EffectCalls', { result: 'answered' }),
      },
      period,
      label: `answers from the effect log, ${provider} (%)`,
    });
  }

  #loadRules(): Readonly<Record<string, Rule>> {
    const { worker, maxInFlight, mostMessagesPerDay } = this.#props;
    const { workerName } = worker;
    return {
      StartsThrottled: {
        section: 'throttled',
        what: 'Step Functions refuses to start executions as fast as messages come; they return to the queue',
        metric: workerMetric(workerName, 'StartsThrottled'),
        from: 1,
        minutes: 3,
      },
      BreakerOpen: {
        section: 'throttled',
        what: 'the circuit breaker has paused the queue, because nothing could be started',
        metric: workerMetric(workerName, 'BreakerOpen', {
          statistic: 'Maximum',
          period: Duration.minutes(5),
        }),
        from: 1,
      },
      ...(maxInFlight === undefined
        ? {}
        : {
            InFlight: {
              section: 'throttled' as const,
              what: `90 % of the ${maxInFlight} executions that may be at work are taken`,
              metric: workerMetric(workerName, 'InFlight', {
                statistic: 'Maximum',
                period: Duration.minutes(5),
              }),
              from: Math.ceil(maxInFlight * 0.9),
              minutes: 2,
            },
          }),
      ...(mostMessagesPerDay === undefined
        ? {}
        : {
            MessagesPerDay: {
              section: 'backlog' as const,
              what: `${mostMessagesPerDay} or more messages within a day: look at the bill`,
              metric: workerMetric(workerName, 'MessagesStarted', { period: Duration.days(1) }),
              from: mostMessagesPerDay,
            },
          }),
    };
  }
}
