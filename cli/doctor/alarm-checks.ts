import type { Dimension, MetricAlarm } from '@aws-sdk/client-cloudwatch';
import type { MetricName } from '../../lambdas/core/telemetry.ts';
import { queueNameOf } from '../../local/names.ts';
import type { TargetNames } from '../stack-names.ts';
import { check, EFFECT_PART, type Facts, faulty } from './facts.ts';

/** A metric that somebody must be told of. */
interface Watched {
  readonly what: string;
  readonly namespace: string;
  readonly metric: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

/** Every worker's functions; those of its providers come on top. */
const PARTS = ['starter', 'plan', 'commit', 'report-failure', 'waker', 'reconciler'];
const METRICS_NAMESPACE = 'Stepwell';
/** What an alarm's description leads to. */
const RUNBOOK = /runbook/i;

const queueAlarm = (what: string, url: string | undefined, metric: string): Watched => ({
  what,
  namespace: 'AWS/SQS',
  metric,
  dimensions: { QueueName: url === undefined ? '' : queueNameOf(url) },
});

/** What the dashboard has to show, each with a word that stands in its source when it does. */
const shownBy = (names: TargetNames): Readonly<Record<string, string>> => ({
  'the queue': 'ApproximateAgeOfOldestMessage',
  'the dead-letter queue': queueNameOf(names.dlqUrl),
  'the worker': 'MessagesCompleted',
  'the database': 'CommitLatency',
  idempotency: 'DuplicatesDropped',
});

/** What must be watched: an alarm on each metric, wherever in the account and Region it was made. */
export function alarmChecks({ alarms, dashboard, names }: Facts) {
  const own = (what: string, metric: MetricName, dimensions: Record<string, string> = {}): Watched => ({
    what,
    namespace: METRICS_NAMESPACE,
    metric,
    dimensions: { service: names.workerName, ...dimensions },
  });
  const machine = (what: string, metric: string): Watched => ({
    what,
    namespace: 'AWS/States',
    metric,
    dimensions: { StateMachineArn: names.stateMachineArn },
  });
  const lambda = (part: string, metric: string, what: string): Watched => ({
    what,
    namespace: 'AWS/Lambda',
    metric,
    dimensions: { FunctionName: names.functions?.[part] ?? '' },
  });
  const watched = (needed: Watched) =>
    check(`An alarm tells of ${needed.what}`, alarms, (found) => judge(needed, found));
  const visible = 'ApproximateNumberOfMessagesVisible';
  const dlq = queueAlarm('messages in the dead-letter queue', names.dlqUrl, visible);
  const providers = Object.keys(names.functions ?? {}).filter((part) => part.startsWith(EFFECT_PART));
  const ofProviders = (line: string, needed: (part: string) => Watched) =>
    check(line, alarms, (found) =>
      faulty(
        providers.filter((part) => !judge(needed(part), found)[0]),
        providers.length === 0 ? 'no provider is configured' : `${providers.length} providers`,
      ),
    );
  return {
    dlq: watched(dlq),
    runbook: check('That alarm says where the runbook is', alarms, (found) => {
      const text = on(dlq, found).map(({ AlarmDescription = '' }) => AlarmDescription);
      return [
        text.some((description) => RUNBOOK.test(description)),
        text.length === 0 ? 'no alarm' : 'its description',
      ];
    }),
    mismatches: watched(own('a changed payload under a known key', 'HashMismatches')),
    slow: watched(lambda('starter', 'Duration', "the starter's time nearing its time-out")),
    age: watched(queueAlarm('an old message', names.queueUrl, 'ApproximateAgeOfOldestMessage')),
    backlog: watched(queueAlarm('messages that pile up in the queue', names.queueUrl, visible)),
    quarantine: watched(queueAlarm('a case in the quarantine', names.quarantineQueueUrl, visible)),
    streamFailures: watched(
      queueAlarm('changes of the table that were given up', names.streamFailureQueueUrl, visible),
    ),
    executions: [
      watched(machine('executions that failed', 'ExecutionsFailed')),
      watched(machine('executions that were stopped', 'ExecutionsAborted')),
      watched(machine('executions that timed out', 'ExecutionsTimedOut')),
    ],
    errors: [
      ...PARTS.map((part) => watched(lambda(part, 'Errors', `errors of the function ${part}`))),
      ofProviders("An alarm tells of errors of each provider's function", (part) =>
        lambda(part, 'Errors', part),
      ),
    ],
    doubts: ofProviders("An alarm tells of each provider's effects in doubt", (part) => {
      const provider = part.slice(EFFECT_PART.length);
      return own(provider, 'EffectsInDoubt', { provider });
    }),
    dashboard: Object.entries(shownBy(names)).map(([what, word]) =>
      check(`The dashboard shows ${what}`, dashboard, (body) => [body.includes(word), word]),
    ),
  };
}

/** Well when an alarm on the metric notifies somebody; then with the state of each. */
function judge(needed: Watched, alarms: readonly MetricAlarm[]): readonly [boolean, string] {
  const found = on(needed, alarms);
  if (found.length === 0) return [false, `none on ${needed.metric}`];
  const telling = found.filter(
    ({ ActionsEnabled = true, AlarmActions = [] }) => ActionsEnabled && AlarmActions.length > 0,
  );
  if (telling.length === 0) return [false, `${found[0]?.AlarmName}: notifies nobody`];
  return [true, telling.map(({ AlarmName, StateValue }) => `${AlarmName}: ${StateValue}`).join(', ')];
}

/** The alarms on a metric, also those that compute with it. */
const on = (needed: Watched, alarms: readonly MetricAlarm[]): readonly MetricAlarm[] =>
  alarms.filter(({ Namespace, MetricName, Dimensions, Metrics = [] }) =>
    [
      { Namespace, MetricName, Dimensions },
      ...Metrics.map(({ MetricStat }) => MetricStat?.Metric ?? {}),
    ].some(
      (metric) =>
        metric.Namespace === needed.namespace &&
        metric.MetricName === needed.metric &&
        sameDimensions(metric.Dimensions ?? [], needed.dimensions),
    ),
  );

const sameDimensions = (found: readonly Dimension[], needed: Readonly<Record<string, string>>): boolean =>
  found.length === Object.keys(needed).length &&
  found.every(({ Name = '', Value }) => Value !== undefined && Value !== '' && needed[Name] === Value);
