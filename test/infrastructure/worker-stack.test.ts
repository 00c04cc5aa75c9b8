import { fileURLToPath } from 'node:url';
import { type App, Duration, Stack, Validations } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { messages } from '../../lambdas/messages/index.ts';
import { WorkerChecks } from '../../lib/checks/worker-checks.ts';
import { IngressApi } from '../../lib/constructs/ingress-api.ts';
import { OPERATOR_EXTRAS, OperatorPolicy } from '../../lib/constructs/operator-policy.ts';
import { OutboxPipe } from '../../lib/constructs/outbox-pipe.ts';
import { LOG_QUERIES } from '../../lib/constructs/worker-queries.ts';
import { WorkerStack, type WorkerStackProps } from '../../lib/worker-stack.ts';
import { unbundledApp } from '../helpers/template.ts';

const worker = {
  messages,
  messagesEntry: fileURLToPath(new URL('../../lambdas/messages/index.ts', import.meta.url)),
};
const stackIn = (app: App, props: Partial<WorkerStackProps> = {}) =>
  new WorkerStack(app, 'Test', { worker, ...props });

describe('WorkerStack', () => {
  it('keeps the AwsSolutions rules and the worker’s own, each exception with its reason', () => {
    const app = unbundledApp();
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new WorkerChecks());
    stackIn(app);
    expect(() => app.synth()).not.toThrow();
  });

  it('keeps them with a customer key, an in-flight limit and an outbox', () => {
    const app = unbundledApp();
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new WorkerChecks());
    const around = new Stack(app, 'Around');
    const encryptionKey = new Key(around, 'Key', { enableKeyRotation: true });
    const outboxTarget = Queue.fromQueueArn(around, 'Next', 'arn:aws:sqs:eu-west-1:111122223333:next');
    stackIn(app, { worker: { ...worker, encryptionKey, maxInFlight: 100 }, outboxTarget });
    expect(() => app.synth()).not.toThrow();
  });

  it('keeps them with the right to forget and with an ingress, customer key included', () => {
    const app = unbundledApp();
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new WorkerChecks());
    const around = new Stack(app, 'Around');
    const encryptionKey = new Key(around, 'Key', { enableKeyRotation: true });
    const stack = stackIn(app, { worker: { ...worker, encryptionKey } });
    new OperatorPolicy(stack, 'Erasers', { worker: stack.worker, allow: OPERATOR_EXTRAS });
    new IngressApi(stack, 'Ingress', {
      queue: stack.worker.queue,
      webhooks: { bank: { headers: ['Bank-Signature'] } },
    });
    expect(() => app.synth()).not.toThrow();
  });

  it('says where dashboard, alarms and the operators’ policy are', () => {
    const template = Template.fromStack(stackIn(unbundledApp()));
    for (const output of ['DashboardName', 'AlarmTopicArn', 'OperatorPolicyArn'])
      template.hasOutput(output, {});
  });

  it('hands on what alarms, dashboard and operators need', () => {
    const app = unbundledApp();
    const stack = stackIn(app, {
      worker: { ...worker, maxInFlight: 100 },
      alarms: { runbookUrl: 'https://runbooks.example', backlogMessages: 7 },
      outboxTarget: 'default',
    });
    const template = Template.fromStack(stack);
    const alarms = Object.entries(template.findResources('AWS::CloudWatch::Alarm'));
    for (const [name, threshold] of [
      ['InFlight', 90],
      ['Backlog', 7],
      ['Unpublished', 1],
    ] as const) {
      const [alarm] = alarms.filter(([id]) => id.startsWith(`Alarms${name}`));
      expect(alarm?.[1].Properties.Threshold, name).toBe(threshold);
    }
    for (const [, { Properties }] of alarms) {
      expect(JSON.stringify(Properties.AlarmDescription)).toContain('Runbook: https://runbooks.example#');
    }
    const [dashboard] = Object.values(template.findResources('AWS::CloudWatch::Dashboard'));
    expect(JSON.stringify(dashboard)).toContain('[Runbook](https://runbooks.example#backlog)');
    template.resourceCountIs('AWS::Logs::QueryDefinition', Object.keys(LOG_QUERIES).length);
    const [policy] = Object.values(template.findResources('AWS::IAM::ManagedPolicy'));
    expect(JSON.stringify(policy)).toContain('cloudwatch:GetDashboard');
  });

  it('refuses worker, alarms and outbox at once, each prop as it is written in the stack’s props', () => {
    const app = unbundledApp();
    const around = new Stack(app, 'Around');
    const outboxTarget = Queue.fromQueueArn(around, 'Next', 'arn:aws:sqs:eu-west-1:111122223333:next.fifo');
    const props = [
      'worker.visibilityTimeout',
      'worker.maxReceiveCount',
      'alarms.backlogMessages',
      'alarms.leastCacheHitPercent.Nobody',
      'outboxTarget',
    ];
    const report = new RegExp(`^Test has 5 faults:${props.map((prop) => `\\n {2}- ${prop}: .+`).join('')}$`);

    expect(() =>
      stackIn(app, {
        worker: { ...worker, visibilityTimeout: Duration.seconds(30), maxReceiveCount: 4 },
        alarms: { backlogMessages: 0, leastCacheHitPercent: { Nobody: 50 } },
        outboxTarget,
      }),
    ).toThrow(report);
  });

  it('refuses to publish a table that another pipe publishes', () => {
    const app = unbundledApp();
    const around = new Stack(app, 'Around');
    const table = Table.fromTableAttributes(around, 'Table', {
      tableArn: 'arn:aws:dynamodb:eu-west-1:111122223333:table/cases',
      tableStreamArn: 'arn:aws:dynamodb:eu-west-1:111122223333:table/cases/stream/1',
    });
    const target = Queue.fromQueueArn(around, 'Next', 'arn:aws:sqs:eu-west-1:111122223333:next');
    new OutboxPipe(around, 'Outbox', { table, target });
    expect(() => stackIn(app, { worker: { ...worker, table }, outboxTarget: target })).toThrow(
      /Test has 1 fault:\n {2}- worker\.table: is published by Around\/Outbox already/,
    );
  });

  it('gives the same template twice', () => {
    const once = () => JSON.stringify(Template.fromStack(stackIn(unbundledApp())).toJSON());
    expect(once()).toBe(once());
  });
});
