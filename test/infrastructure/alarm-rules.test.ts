import { Duration } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { describe, expect, it } from 'vitest';
import { defineProvider } from '../../lambdas/core/provider.ts';
import { OutboxPipe } from '../../lib/constructs/outbox-pipe.ts';
import { WorkerAlarms } from '../../lib/constructs/worker-alarms.ts';
import { testWorker } from '../helpers/template.ts';
import { MESSAGES_ENTRY } from '../helpers/worker-template.ts';

interface Metric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
}
interface Query {
  readonly Expression?: string;
  readonly MetricStat?: { readonly Metric: Metric; readonly Period: number; readonly Stat: string };
}

const { stack, worker } = testWorker({
  providers: [defineProvider({ name: 'Model', operations: {} })],
  providersEntry: MESSAGES_ENTRY,
});
const outbox = new OutboxPipe(stack, 'Outbox', {
  table: worker.table,
  target: EventBus.fromEventBusName(stack, 'Bus', 'default'),
});
const { alarms } = new WorkerAlarms(stack, 'Alarms', {
  worker,
  outbox,
  backlogMessages: 700,
  oldestMessage: Duration.minutes(7),
  orderingGap: Duration.minutes(70),
  starterTimeout: Duration.seconds(20),
  maxInFlight: 500,
  mostMessagesPerDay: 300_000,
  leastCacheHitPercent: { Model: 50 },
});
const template = Template.fromStack(stack);
const found = Object.entries(template.findResources('AWS::CloudWatch::Alarm'));

/** What a dimension names: a part of the worker, or a value of its own. */
const nameOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : (/(?:Outbox|Worker)(\w+?)[0-9A-F]{8}/.exec(JSON.stringify(value))?.[1] ?? JSON.stringify(value));
const metricText = ({ Namespace, MetricName, Dimensions = [] }: Metric) =>
  `${Namespace} ${MetricName} {${Dimensions.map(({ Name, Value }) => `${Name}=${nameOf(Value)}`).join(' ')}}`;

/** An alarm as `metric {dimensions}, statistic of seconds, comparison, periods`. */
function ruleOf(name: string): string {
  const [, { Properties } = { Properties: {} }] =
    found.find(([id]) => new RegExp(`^Alarms${name}[0-9A-F]{8}$`).test(id)) ?? [];
  const { Statistic, ExtendedStatistic, Period, Metrics } = Properties;
  const queries: readonly Query[] = Metrics ?? [];
  const what =
    Metrics === undefined
      ? `${metricText(Properties)} ${Statistic ?? ExtendedStatistic} of ${Period} s`
      : queries
          .map(({ Expression, MetricStat: stat }) =>
            stat === undefined ? Expression : `${metricText(stat.Metric)} ${stat.Stat} of ${stat.Period} s`,
          )
          .join('; ');
  const sign = Properties.ComparisonOperator === 'LessThanThreshold' ? '<' : '>=';
  const known = ['LessThanThreshold', 'GreaterThanOrEqualToThreshold'].includes(
    Properties.ComparisonOperator,
  );
  const times = Properties.EvaluationPeriods === 1 ? '' : `, ${Properties.EvaluationPeriods} times`;
  return `${what} ${known ? sign : Properties.ComparisonOperator} ${Properties.Threshold}${times}`;
}

const queue = (metric: string, name: string) => `AWS/SQS ${metric} {QueueName=${name}} Maximum of 60 s`;
const visible = (name: string) => queue('ApproximateNumberOfMessagesVisible', name);
const lambda = (metric: string, name: string, seconds = 60) =>
  `AWS/Lambda ${metric} {FunctionName=${name}Function} Sum of ${seconds} s`;
const states = (metric: string) => `AWS/States ${metric} {StateMachineArn=StateMachine} Sum of 60 s`;
const own = (metric: string, dimensions = '') => `Stepwell ${metric} {${dimensions}service=Worker}`;
const faults = (name: string) =>
  `errors - FILL(routed, 0); ${lambda('Errors', name, 300)}; ${own('RoutedErrors', `function=${name} `)} Sum of 300 s >= 1, 3 times`;

const PLAIN = ['Starter', 'Plan', 'Waker', 'Reconciler'];
const ROUTING = ['Commit', 'ReportFailure', 'RunEffectModel'];

const RULES: Readonly<Record<string, string>> = {
  DeadLetters: `${visible('QueueDeadLetters')} >= 1`,
  QuarantineOpen: `${visible('Quarantine')} >= 1`,
  StreamFailures: `${visible('StreamFailures')} >= 1`,
  Unpublished: `${visible('Unpublished')} >= 1`,
  Backlog: `${visible('QueueMessages')} >= 700, 5 times`,
  OldestMessage: `${queue('ApproximateAgeOfOldestMessage', 'QueueMessages')} >= 420, 3 times`,
  // Each sweep looks at three days; over eight hours all 90 have had their turn.
  CasesOpen: `${own('OpenCases')} Maximum of 28800 s >= 1`,
  ...Object.fromEntries(PLAIN.map((name) => [`${name}Errors`, `${lambda('Errors', name)} >= 1, 3 times`])),
  ...Object.fromEntries(ROUTING.map((name) => [`${name}Errors`, faults(name)])),
  ...Object.fromEntries(
    [...PLAIN, ...ROUTING].map((name) => [`${name}Throttles`, `${lambda('Throttles', name)} >= 1, 3 times`]),
  ),
  StarterSlow: 'AWS/Lambda Duration {FunctionName=StarterFunction} p99 of 60 s >= 16000, 3 times',
  StreamLag: 'AWS/Lambda IteratorAge {FunctionName=WakerFunction} Maximum of 60 s >= 60000, 5 times',
  ExecutionsFailed: `${states('ExecutionsFailed')} >= 1`,
  ExecutionsAborted: `${states('ExecutionsAborted')} >= 1`,
  ExecutionsTimedOut: `${states('ExecutionsTimedOut')} >= 1`,
  HashMismatches: `${own('HashMismatches')} Sum of 60 s >= 1`,
  OrderingGap: `${own('OrderingGapSeconds')} Maximum of 60 s >= 4200`,
  InDoubtModel: `${own('EffectsInDoubt', 'provider=Model ')} Sum of 60 s >= 1`,
  CacheHitsModel: `100 * FILL(hits, 0) / (FILL(hits, 0) + FILL(calls, 0)); ${own('EffectCacheHits', 'provider=Model ')} Sum of 300 s; ${own('EffectCalls', 'provider=Model result=answered ')} Sum of 300 s < 50, 3 times`,
  StartsThrottled: `${own('StartsThrottled')} Sum of 60 s >= 1, 3 times`,
  BreakerOpen: `${own('BreakerOpen')} Maximum of 300 s >= 1`,
  InFlight: `${own('InFlight')} Maximum of 300 s >= 450, 2 times`,
  MessagesPerDay: `${own('MessagesStarted')} Sum of 86400 s >= 300000`,
};

describe('an alarm', () => {
  it.each(Object.entries(RULES))('%s fires when it should', (name, rule) => {
    expect(ruleOf(name)).toBe(rule);
  });

  it('is there for each of these, and for nothing else', () => {
    expect(Object.keys(alarms).sort()).toEqual(Object.keys(RULES).sort());
    expect(found).toHaveLength(Object.keys(RULES).length);
  });
});
