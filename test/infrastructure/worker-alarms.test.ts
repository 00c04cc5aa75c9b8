import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Duration } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { describe, expect, it } from 'vitest';
import { METRICS } from '../../lambdas/core/telemetry.ts';
import { providers } from '../../lambdas/providers/index.ts';
import { RUNBOOK_SECTIONS } from '../../lib/constructs/alarms/rule.ts';
import { OutboxPipe } from '../../lib/constructs/outbox-pipe.ts';
import { WorkerAlarms, type WorkerAlarmsProps } from '../../lib/constructs/worker-alarms.ts';
import { WorkerFunction } from '../../lib/constructs/worker-function.ts';
import type { WorkflowWorkerProps } from '../../lib/constructs/workflow-worker-props.ts';
import { testWorker } from '../helpers/template.ts';

interface MetricQuery {
  readonly Id: string;
  readonly Expression?: string;
  readonly MetricStat?: { readonly Metric: Readonly<Record<string, unknown>> };
}

const WITH_PROVIDERS: Partial<WorkflowWorkerProps> = {
  providers,
  providersEntry: fileURLToPath(new URL('../../lambdas/providers/index.ts', import.meta.url)),
};

function alarmsTemplate(
  props: Partial<WorkerAlarmsProps> = {},
  workerProps: Partial<WorkflowWorkerProps> = {},
) {
  const { stack, worker } = testWorker(workerProps);
  const alarms = new WorkerAlarms(stack, 'Alarms', { worker, ...props });
  return { template: Template.fromStack(stack), alarms, worker };
}

/** Alarm resources, without what CloudFormation resolves later. */
const alarmsOf = (template: Template) => Object.values(template.findResources('AWS::CloudWatch::Alarm'));

describe('WorkerAlarms', () => {
  const { template } = alarmsTemplate({ maxInFlight: 500, mostMessagesPerDay: 1_000_000 });

  it.each(['dlq', 'quarantine', 'stuck', 'backlog', 'throttled'])(
    'leads to the runbook section %s',
    (section) => {
      template.hasResourceProperties('AWS::CloudWatch::Alarm', {
        AlarmDescription: {
          'Fn::Join': ['', Match.arrayWith([Match.stringLikeRegexp(`runbooks\\.md#${section} `)])],
        },
      });
    },
  );

  it('says in every alarm what it means, which section goes on from there and where in the console to look', () => {
    const { template: all } = alarmsTemplate({ maxInFlight: 500, mostMessagesPerDay: 1 }, WITH_PROVIDERS);
    for (const { Properties } of alarmsOf(all)) {
      const [, parts]: readonly [string, readonly unknown[]] = Properties.AlarmDescription['Fn::Join'];
      const text = parts.map((part) => (typeof part === 'string' ? part : '<resolved>')).join('');
      expect(text).toMatch(
        /^Worker: .{20,}\. Runbook: docs\/runbooks\.md#[a-z-]+ Executions: https:\/\/<resolved>\.console\.aws\.amazon\.com\/states\/home\?region=<resolved>#\/statemachines\/view\/<resolved>$/,
      );
      const [, section = ''] = /#([a-z-]+) /.exec(text) ?? [];
      expect(RUNBOOK_SECTIONS).toContain(section);
    }
  });

  it('leads to a section that speaks of the alarm by its name', () => {
    const runbooks = readFileSync(new URL('../../docs/runbooks.md', import.meta.url), 'utf8');
    const sectionOf = (id: string) =>
      runbooks.split(/(?=<a id=")/).find((part) => part.startsWith(`<a id="${id}"`));
    const { stack, worker } = testWorker(WITH_PROVIDERS);
    const outbox = new OutboxPipe(stack, 'Outbox', {
      table: worker.table,
      target: EventBus.fromEventBusName(stack, 'Bus', 'default'),
    });
    const { alarms } = new WorkerAlarms(stack, 'Alarms', {
      worker,
      outbox,
      maxInFlight: 500,
      mostMessagesPerDay: 1,
      leastCacheHitPercent: { Model: 50 },
    });
    const descriptions = new Map(
      Object.entries(Template.fromStack(stack).findResources('AWS::CloudWatch::Alarm')).map(
        ([id, { Properties }]) => [id, JSON.stringify(Properties.AlarmDescription)] as const,
      ),
    );
    expect(Object.keys(alarms).length).toBe(descriptions.size);
    for (const name of Object.keys(alarms)) {
      const id = [...descriptions.keys()].find((entry) =>
        new RegExp(`^Alarms${name}[0-9A-F]{8}$`).test(entry),
      );
      const [, section = ''] = /#([a-z-]+) /.exec(descriptions.get(id ?? '') ?? '') ?? [];
      // What there is one of for each function or provider, the section names as one.
      const spoken = name.replace(/^.+(Errors|Throttles)$/, '…$1').replace(/^(InDoubt|CacheHits).+$/, '$1…');
      expect(sectionOf(section), `${name} leads to ${section}`).toContain(`\`${spoken}\``);
    }
  });

  it('names only sections that the runbooks have', () => {
    const runbooks = readFileSync(new URL('../../docs/runbooks.md', import.meta.url), 'utf8');
    for (const section of RUNBOOK_SECTIONS) expect(runbooks).toContain(`<a id="${section}"></a>`);
  });

  it('tells every alarm and its end to the topic, and is calm where there is no data', () => {
    const found = alarmsOf(template);
    expect(found.length).toBeGreaterThan(20);
    for (const { Properties } of found) {
      expect(Properties.AlarmActions).toHaveLength(1);
      expect(Properties.OKActions).toEqual(Properties.AlarmActions);
      expect(Properties.TreatMissingData).toBe('notBreaching');
    }
  });

  it('watches only metrics of the worker that its functions emit', () => {
    const own = alarmsOf(template).filter(({ Properties }) => Properties.Namespace === 'Stepwell');
    expect(own.length).toBeGreaterThan(4);
    for (const { Properties } of own) {
      expect(Object.keys(METRICS)).toContain(Properties.MetricName);
      expect(Properties.Dimensions).toContainEqual({ Name: 'service', Value: 'Worker' });
    }
  });

  it('fires at the first dead letter', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Threshold: 1,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      Dimensions: [
        { Name: 'QueueName', Value: { 'Fn::GetAtt': [Match.stringLikeRegexp('DeadLetters'), 'QueueName'] } },
      ],
    });
  });

  it('counts open cases, over the time in which the reconciler has looked at every day', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'OpenCases',
      Statistic: 'Maximum',
      Period: 8 * 3600,
      EvaluationPeriods: 1,
      Threshold: 1,
    });
  });

  it('watches errors and throttles of every function', () => {
    const { alarms, worker } = alarmsTemplate({}, WITH_PROVIDERS);
    const functions = worker.node
      .findAll()
      .filter((construct) => construct instanceof WorkerFunction)
      .map(({ node }) => node.id);
    expect(functions.length).toBeGreaterThan(7);
    for (const name of functions) {
      expect(alarms.alarms).toHaveProperty(`${name}Errors`);
      expect(alarms.alarms).toHaveProperty(`${name}Throttles`);
    }
  });

  it.each(['Commit', 'ReportFailure', 'RunEffectPayments'])(
    'takes from the errors of %s what it throws to route executions',
    (name) => {
      const { template: own } = alarmsTemplate({}, WITH_PROVIDERS);
      const [alarm] = alarmsOf(own).filter(({ Properties }) =>
        JSON.stringify(Properties.AlarmDescription).includes(`the function ${name} fails`),
      );
      const metrics: readonly MetricQuery[] = alarm?.Properties.Metrics;
      expect(metrics.map(({ Expression }) => Expression)).toContain('errors - FILL(routed, 0)');
      const metricOf = (id: string) => metrics.find(({ Id }) => Id === id)?.MetricStat?.Metric;
      expect(metricOf('errors')).toMatchObject({ Namespace: 'AWS/Lambda', MetricName: 'Errors' });
      expect(metricOf('routed')).toMatchObject({
        Namespace: 'Stepwell',
        MetricName: 'RoutedErrors',
        Dimensions: [
          { Name: 'function', Value: name },
          { Name: 'service', Value: 'Worker' },
        ],
      });
      expect(alarm?.Properties).toMatchObject({ EvaluationPeriods: 3, Threshold: 1 });
    },
  );

  it('fires before batches take the time from which the visibility time-out is derived', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', { ExtendedStatistic: 'p99', Threshold: 24_000 });
  });

  it('lets CloudWatch use a customer key of the topic', () => {
    const { stack, worker } = testWorker();
    const encryptionKey = new Key(stack, 'Key');
    new WorkerAlarms(stack, 'Alarms', { worker, encryptionKey });
    Template.fromStack(stack).hasResourceProperties('AWS::KMS::Key', {
      KeyPolicy: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Principal: { Service: 'cloudwatch.amazonaws.com' },
            Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
          }),
        ]),
      },
    });
  });

  it.each<readonly [string, Partial<WorkerAlarmsProps>, RegExp]>([
    ['backlogMessages', { backlogMessages: 0 }, /must be a whole number from 1, is 0/],
    ['maxInFlight', { maxInFlight: 1.5 }, /must be a whole number from 1, is 1.5/],
    ['mostMessagesPerDay', { mostMessagesPerDay: Number.NaN }, /must be a whole number from 1, is NaN/],
    ['oldestMessage', { oldestMessage: Duration.seconds(90) }, /must be whole minutes from 1, is 90 s/],
    ['orderingGap', { orderingGap: Duration.seconds(0) }, /must be whole minutes from 1, is 0 s/],
    ['starterTimeout', { starterTimeout: Duration.hours(1) }, /must be from 1 to 900 seconds, is 3600 s/],
    ['leastCacheHitPercent.Model', { leastCacheHitPercent: { Model: 50 } }, /is no provider of the worker/],
    [
      'leastCacheHitPercent.Model',
      { leastCacheHitPercent: { Model: 0 } },
      /must be above 0 and at most 100, is 0/,
    ],
  ])('refuses %s when it is wrong', (prop, props, rule) => {
    expect(() => alarmsTemplate(props)).toThrow(new RegExp(`- ${prop}: ${rule.source}`));
  });

  it('uses a topic that is there', () => {
    const { stack, worker } = testWorker();
    const topic = new Topic(stack, 'Mine');
    expect(new WorkerAlarms(stack, 'Alarms', { worker, topic }).topic).toBe(topic);
    Template.fromStack(stack).resourceCountIs('AWS::SNS::Topic', 1);
  });
});
