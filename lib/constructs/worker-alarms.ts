import { Aws, type Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { throwFaults } from '../faults.ts';
import { findAlarmFaults } from './alarms/alarm-faults.ts';
import { effectRules } from './alarms/effect-rules.ts';
import { executionRules } from './alarms/execution-rules.ts';
import { functionRules } from './alarms/function-rules.ts';
import { loadRules } from './alarms/load-rules.ts';
import { queueRules } from './alarms/queue-rules.ts';
import type { AlarmRule, AlarmRules } from './alarms/rule.ts';
import type { OutboxPipe } from './outbox-pipe.ts';
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
   * Messages waiting in the queue for 5 minutes, from 1.
   * @default 1000
   */
  readonly backlogMessages?: number;
  /**
   * Age of the oldest message in the queue, from 1 minute.
   * @default Duration.minutes(15)
   */
  readonly oldestMessage?: Duration;
  /**
   * How long a missing predecessor may be waited for, from 1 minute.
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
   * Share of answers that should come from the effect log, above 0 and up to 100 percent, by provider.
   * @default none
   */
  readonly leastCacheHitPercent?: Readonly<Record<string, number>>;
  /**
   * Messages a day from which somebody should look at the bill: every cost but the fixed ones grows with them.
   * What that is in money: docs/cost.md.
   * @default none
   */
  readonly mostMessagesPerDay?: number;
}

/**
 * The alarms of a worker, on one topic. Each says in its description what it means, which section of the runbooks
 * goes on from there, and where in the console to look.
 */
export class WorkerAlarms extends Construct {
  /** Where all of them are sent; a new one needs a subscription. */
  readonly topic: ITopic;
  /** By the names that docs/runbooks.md gives them. */
  readonly alarms: Readonly<Record<string, Alarm>>;

  readonly #props: WorkerAlarmsProps;

  /** @throws ConfigurationError naming every fault of the props, with rule and remedy */
  constructor(scope: Construct, id: string, props: WorkerAlarmsProps) {
    super(scope, id);
    throwFaults(this.node.path, findAlarmFaults(props, Object.keys(props.worker.providers)));
    this.#props = props;
    this.topic = props.topic ?? this.#newTopic();
    const action = new SnsAction(this.topic);
    this.alarms = Object.fromEntries(
      Object.entries(this.#rules()).map(([name, rule]) => {
        const alarm = new Alarm(this, name, {
          metric: rule.metric,
          threshold: rule.from,
          evaluationPeriods: rule.periods ?? 1,
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

  #describe({ section, what }: AlarmRule): string {
    const { worker, runbookUrl = 'docs/runbooks.md' } = this.#props;
    const machine = worker.stateMachine.stateMachine.stateMachineArn;
    const console = `https://${Aws.REGION}.console.aws.amazon.com/states/home?region=${Aws.REGION}#/statemachines/view/${machine}`;
    return `${worker.workerName}: ${what}. Runbook: ${runbookUrl}#${section} Executions: ${console}`;
  }

  #rules(): AlarmRules {
    return {
      ...queueRules(this.#props),
      ...functionRules(this.#props),
      ...executionRules(this.#props),
      ...effectRules(this.#props),
      ...loadRules(this.#props),
    };
  }
}
