import { readFileSync } from 'node:fs';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { describe, expect, it } from 'vitest';
import { METRICS } from '../../lambdas/core/telemetry.ts';
import { RUNBOOK_SECTIONS } from '../../lib/constructs/alarms/rule.ts';
import { WorkerAlarms, type WorkerAlarmsProps } from '../../lib/constructs/worker-alarms.ts';
import { testWorker } from '../helpers/template.ts';

function alarmsTemplate(props: Partial<WorkerAlarmsProps> = {}) {
  const { stack, worker } = testWorker();
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

  it('does not take what Commit throws to route an execution for an error', () => {
    const { alarms } = alarmsTemplate();
    expect(Object.keys(alarms.alarms)).toEqual(
      expect.arrayContaining([
        'PlanErrors',
        'StarterErrors',
        'WakerErrors',
        'ReconcilerErrors',
        'CommitThrottles',
      ]),
    );
    expect(alarms.alarms).not.toHaveProperty('CommitErrors');
    expect(alarms.alarms).not.toHaveProperty('ReportFailureErrors');
  });

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

  it('uses a topic that is there', () => {
    const { stack, worker } = testWorker();
    const topic = new Topic(stack, 'Mine');
    expect(new WorkerAlarms(stack, 'Alarms', { worker, topic }).topic).toBe(topic);
    Template.fromStack(stack).resourceCountIs('AWS::SNS::Topic', 1);
  });
});
