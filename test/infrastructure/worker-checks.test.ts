import { Stack, Validations } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { describe, expect, it } from 'vitest';
import { findViolations, WorkerChecks } from '../../lib/checks/worker-checks.ts';
import { OutboxPipe } from '../../lib/constructs/outbox-pipe.ts';
import { WorkerAlarms } from '../../lib/constructs/worker-alarms.ts';
import { testWorker, unbundledApp } from '../helpers/template.ts';

const rulesBroken = (resources: Parameters<typeof findViolations>[0]) =>
  findViolations(resources).map(({ rule, resource }) => `${rule} ${resource}`);

const SOURCE = {
  Type: 'AWS::Lambda::EventSourceMapping',
  Properties: { EventSourceArn: { 'Fn::GetAtt': ['Main', 'Arn'] }, FunctionName: { Ref: 'Reader' } },
};
const READER = { Type: 'AWS::Lambda::Function', Properties: { Timeout: 30 } };
const ENDS = {
  Type: 'AWS::CloudWatch::Alarm',
  Properties: {
    MetricName: 'ApproximateNumberOfMessagesVisible',
    Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': ['Dead', 'QueueName'] } }],
  },
};
const main = (visibility?: number) => ({
  Type: 'AWS::SQS::Queue',
  Properties: { RedrivePolicy: {}, ...(visibility === undefined ? {} : { VisibilityTimeout: visibility }) },
});
const DEAD = { Type: 'AWS::SQS::Queue' };

describe('WorkerChecks', () => {
  it('finds nothing in a worker with its alarms', () => {
    const { stack, worker } = testWorker();
    new WorkerAlarms(stack, 'Alarms', { worker });
    expect(rulesBroken(Template.fromStack(stack).toJSON().Resources)).toEqual([]);
  });

  it('finds each queue without an alarm at which messages end', () => {
    const { stack } = testWorker();
    const broken = rulesBroken(Template.fromStack(stack).toJSON().Resources);
    expect(broken).toHaveLength(3);
    for (const rule of broken)
      expect(rule).toMatch(/^DeadLetterQueueHasAlarm Worker(QueueDeadLetters|Quarantine|StreamFailures)/);
  });

  it('takes no alarm on another metric for one that tells of the first message', () => {
    const age = { ...ENDS, Properties: { ...ENDS.Properties, MetricName: 'ApproximateAgeOfOldestMessage' } };
    expect(rulesBroken({ Dead: DEAD, ENDS: age })).toEqual(['DeadLetterQueueHasAlarm Dead']);
    expect(rulesBroken({ Dead: DEAD, ENDS })).toEqual([]);
  });

  it('finds a queue that a function reads and that has no dead-letter queue', () => {
    const resources = {
      Main: { Type: 'AWS::SQS::Queue', Properties: { VisibilityTimeout: 180 } },
      SOURCE,
      Reader: READER,
    };
    expect(rulesBroken(resources)).toEqual(['QueueHasDeadLetterQueue Main']);
  });

  it.each([
    [180, 0, []],
    [179, 0, ['FunctionEndsBeforeVisibility Main']],
    [180, 1, ['FunctionEndsBeforeVisibility Main']],
    [undefined, 0, ['FunctionEndsBeforeVisibility Main']],
  ])(
    'holds a visibility time-out of %s s with a window of %s s against the function',
    (visibility, window, broken) => {
      const source = {
        ...SOURCE,
        Properties: { ...SOURCE.Properties, MaximumBatchingWindowInSeconds: window },
      };
      const resources = { Main: main(visibility), Dead: DEAD, ENDS, source, Reader: READER };
      expect(rulesBroken(resources)).toEqual(broken);
    },
  );

  it.each([
    ['of this template', { 'Fn::GetAtt': ['Table', 'StreamArn'] }],
    ['that is imported', 'arn:aws:dynamodb:eu-west-1:111122223333:table/cases/stream/1'],
  ])('lets a stream %s have two readers, and finds the third', (_name, stream) => {
    const reader = { Type: 'AWS::Lambda::EventSourceMapping', Properties: { EventSourceArn: stream } };
    const pipe = { Type: 'AWS::Pipes::Pipe', Properties: { Source: stream } };
    expect(rulesBroken({ Waker: reader, Pipe: pipe })).toEqual([]);
    expect(rulesBroken({ Waker: reader, Mine: reader, Pipe: pipe })).toEqual(['StreamHasTwoReaders Pipe']);
  });

  it('finds nothing in a worker with its outbox, and the reader that somebody adds', () => {
    const { stack, worker } = testWorker();
    new WorkerAlarms(stack, 'Alarms', {
      worker,
      outbox: new OutboxPipe(stack, 'Outbox', {
        table: worker.table,
        target: EventBus.fromEventBusName(stack, 'Bus', 'default'),
      }),
    });
    const { Resources } = Template.fromStack(stack).toJSON();
    expect(rulesBroken(Resources)).toEqual([]);
    const [waker = ''] = Object.keys(Resources).filter((id) => /^WorkerChanges/.test(id));
    expect(rulesBroken({ ...Resources, Mine: Resources[waker] })).toEqual([
      expect.stringMatching(/^StreamHasTwoReaders /),
    ]);
  });

  it('finds a dead-letter queue whose alarm is taken away, and a function that outlives its queue', () => {
    const { stack, worker } = testWorker();
    new WorkerAlarms(stack, 'Alarms', { worker });
    const { Resources } = Template.fromStack(stack).toJSON();
    const without = structuredClone(Resources);
    for (const id of Object.keys(without)) if (id.startsWith('AlarmsDeadLetters')) delete without[id];
    expect(rulesBroken(without)).toEqual([
      expect.stringMatching(/^DeadLetterQueueHasAlarm WorkerQueueDeadLetters/),
    ]);
    const slow = structuredClone(Resources);
    const [starter = ''] = Object.keys(slow).filter((id) => /^WorkerStarterFunction/.test(id));
    slow[starter].Properties.Timeout = 31;
    expect(rulesBroken(slow)).toEqual([
      expect.stringMatching(/^FunctionEndsBeforeVisibility WorkerQueueMessages/),
    ]);
    const undirected = structuredClone(Resources);
    const [queue = ''] = Object.keys(undirected).filter((id) => /^WorkerQueueMessages(?!Policy)/.test(id));
    delete undirected[queue].Properties.RedrivePolicy;
    expect(rulesBroken(undirected)).toContainEqual(expect.stringMatching(/^QueueHasDeadLetterQueue /));
  });

  it('fails the synthesis', () => {
    const app = unbundledApp();
    Validations.of(app).addPlugins(new WorkerChecks());
    new Queue(new Stack(app, 'Test'), 'Forgotten');
    expect(() => app.synth()).toThrow();
  });

  it('reports rule, remedy and place', () => {
    const app = unbundledApp();
    new Queue(new Stack(app, 'Test'), 'Forgotten');
    const template = app.synth().getStackByName('Test').templateFullPath;
    const report = new WorkerChecks().validate({
      templatePaths: [template],
      stackTemplates: [],
      appConstruct: app,
    });
    expect(report.success).toBe(false);
    expect(report.violations).toMatchObject([
      {
        ruleName: 'DeadLetterQueueHasAlarm',
        fix: expect.stringContaining('WorkerAlarms'),
        violatingResources: [
          { resourceLogicalId: expect.stringMatching(/^Forgotten/), templatePath: template },
        ],
      },
    ]);
  });
});
