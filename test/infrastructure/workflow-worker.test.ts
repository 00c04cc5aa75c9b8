import { Duration, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { describe, expect, it } from 'vitest';
import { INDEXES } from '../../lambdas/core/table.ts';
import { WorkflowWorker } from '../../lib/constructs/workflow-worker.ts';
import { quickApp, synthesise, workerProps } from '../helpers/worker-template.ts';

const standard = synthesise().template;

describe('WorkflowWorker', () => {
  it('derives the visibility time-out as six times the function’s and the window', () => {
    const { template } = synthesise({
      functionTimeout: Duration.seconds(45),
      maxBatchingWindow: Duration.seconds(7),
    });

    template.hasResourceProperties('AWS::SQS::Queue', {
      VisibilityTimeout: 6 * 45 + 7,
      RedrivePolicy: { maxReceiveCount: 100 },
    });
  });

  it('takes partial batch responses and bounds the starters at work', () => {
    standard.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      BatchSize: 10,
      ScalingConfig: { MaximumConcurrency: 10 },
    });
  });

  it('keeps messages longer in the dead-letter queue than in the queue', () => {
    const template = standard;

    const periods = Object.values(template.findResources('AWS::SQS::Queue')).map(
      ({ Properties }) =>
        [Properties.RedrivePolicy !== undefined, Properties.MessageRetentionPeriod] as const,
    );
    const source = periods.filter(([hasDlq]) => hasDlq).map(([, seconds]) => seconds);
    const ends = periods.filter(([hasDlq]) => !hasDlq).map(([, seconds]) => seconds);
    expect(source).toHaveLength(1);
    expect(Math.min(...ends)).toBeGreaterThan(Math.max(...source));
  });

  it('encrypts every queue and refuses requests without TLS', () => {
    const template = standard;

    const queues = template.findResources('AWS::SQS::Queue');
    const policies = Object.values(template.findResources('AWS::SQS::QueuePolicy'));
    for (const [id, { Properties }] of Object.entries(queues)) {
      expect(Properties.SqsManagedSseEnabled, id).toBe(true);
      const policy = policies.find((entry) =>
        entry.Properties.Queues.some((queue: { Ref: string }) => queue.Ref === id),
      );
      expect(policy?.Properties.PolicyDocument.Statement, id).toContainEqual(
        expect.objectContaining({
          Effect: 'Deny',
          Action: 'sqs:*',
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        }),
      );
    }
  });

  it('makes both queues FIFO, with order kept per group', () => {
    const { template } = synthesise({ fifo: true });

    for (const deadLetters of [{ RedrivePolicy: Match.anyValue() }, { RedrivePolicy: Match.absent() }]) {
      template.hasResourceProperties('AWS::SQS::Queue', {
        FifoQueue: true,
        DeduplicationScope: 'messageGroup',
        FifoThroughputLimit: 'perMessageGroupId',
        ...deadLetters,
      });
    }
  });

  it('has one table on demand with recovery, stream, time to live and both indexes', () => {
    standard.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Retain',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
        TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
        GlobalSecondaryIndexes: [
          { IndexName: INDEXES.byAttention.name, Projection: { ProjectionType: 'KEYS_ONLY' } },
          { IndexName: INDEXES.byAggregate.name, Projection: { ProjectionType: 'KEYS_ONLY' } },
        ].map((index) => Match.objectLike(index)),
      },
    });
  });

  it('keeps payloads in a bucket that keeps versions and that nobody can make public', () => {
    standard.hasResourceProperties('AWS::S3::Bucket', {
      VersioningConfiguration: { Status: 'Enabled' },
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
    });
  });

  it('deletes everything with the stack in development', () => {
    const { template } = synthesise({ profile: 'development' });

    const kept = Object.values(template.toJSON().Resources).filter(
      (resource) => Object(resource).DeletionPolicy?.startsWith('Retain') === true,
    );
    expect(kept).toEqual([]);
    template.hasResourceProperties('AWS::DynamoDB::Table', { DeletionProtectionEnabled: false });
  });

  it('logs errors of executions without their data, below the prefix that Logs admits as a whole', () => {
    const template = standard;

    template.hasResourceProperties('AWS::StepFunctions::StateMachine', {
      StateMachineType: 'STANDARD',
      LoggingConfiguration: { Level: 'ERROR', IncludeExecutionData: false },
    });
    template.hasResourceProperties('AWS::Logs::LogGroup', {
      LogGroupName: {
        'Fn::Join': [
          '',
          ['/aws/vendedlogs/states/', { Ref: 'AWS::StackName' }, ...Array(3).fill(Match.anyValue())],
        ].map((part) => (typeof part === 'string' ? part : Match.arrayWith(part.slice(0, 2)))),
      },
    });
  });

  it('gives nothing a name of its own but the state machine’s log group, which no other stack can have', () => {
    const template = standard;

    const named = Object.values(template.toJSON().Resources).flatMap((resource) => {
      const { Type, Properties = {} } = Object(resource);
      const kind = String(Type).split('::').at(-1);
      return Object.entries(Properties).filter(
        ([property]) => property === `${kind}Name` && kind !== 'Policy',
      );
    });
    expect(named.map(([property]) => property)).toEqual(['LogGroupName']);
    expect(JSON.stringify(named)).toContain('AWS::StackId');
  });

  it('runs every function on arm64 and Node.js 24, with a log group and a time-out of its own', () => {
    const template = standard;

    const functions = Object.values(template.findResources('AWS::Lambda::Function'));
    expect(functions.length).toBeGreaterThan(5);
    for (const { Properties } of functions) {
      expect(Properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'] });
      expect(Properties.Timeout).toBeGreaterThan(0);
      expect(Properties.LoggingConfig.LogGroup.Ref).toMatch(/Logs/);
      expect(Properties.Environment.Variables).toMatchObject({
        WORKER_NAME: 'Worker',
        POWERTOOLS_SERVICE_NAME: 'Worker',
      });
    }
  });

  it('feeds the waker from the stream: partial responses, bisected, bounded, with somewhere to fail to', () => {
    standard.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      StartingPosition: 'TRIM_HORIZON',
      BisectBatchOnFunctionError: true,
      MaximumRetryAttempts: 10,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      FilterCriteria: { Filters: Match.anyValue() },
      DestinationConfig: { OnFailure: Match.anyValue() },
    });
  });

  it('tells the reconciler of executions that ended badly, and lets it look by itself', () => {
    const template = standard;

    template.hasResourceProperties('AWS::Events::Rule', {
      EventPattern: {
        source: ['aws.states'],
        'detail-type': ['Step Functions Execution Status Change'],
        detail: {
          stateMachineArn: [{ Ref: Match.stringLikeRegexp('^WorkerStateMachine') }],
          status: ['FAILED', 'TIMED_OUT', 'ABORTED'],
        },
      },
    });
    template.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(5 minutes)' });
  });

  it('uses the customer key for all that it keeps, and lets Logs use it', () => {
    const app = quickApp();
    const stack = new Stack(app, 'Test');
    const encryptionKey = new Key(stack, 'Key');
    new WorkflowWorker(stack, 'Worker', workerProps({ encryptionKey }));
    const template = Template.fromStack(stack);

    template.hasResourceProperties('AWS::DynamoDB::Table', { SSESpecification: { SSEType: 'KMS' } });
    template.hasResourceProperties('AWS::StepFunctions::StateMachine', {
      EncryptionConfiguration: { Type: 'CUSTOMER_MANAGED_KMS_KEY' },
    });
    template.allResourcesProperties('AWS::SQS::Queue', { KmsMasterKeyId: Match.anyValue() });
    template.allResourcesProperties('AWS::Logs::LogGroup', { KmsKeyId: Match.anyValue() });
    template.hasResourceProperties('AWS::KMS::Key', {
      KeyPolicy: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Condition: { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': Match.anyValue() } },
          }),
        ]),
      },
    });
  });

  it('runs the newest code of every function, without versions or aliases', () => {
    standard.resourceCountIs('AWS::Lambda::Alias', 0);
    standard.resourceCountIs('AWS::Lambda::Version', 0);
    const [machine] = Object.values(standard.findResources('AWS::StepFunctions::StateMachine'));
    const { PlanFunctionArn, CommitFunctionArn, ReportFailureFunctionArn } =
      machine?.Properties.DefinitionSubstitutions ?? {};
    for (const arn of [PlanFunctionArn, CommitFunctionArn, ReportFailureFunctionArn]) {
      expect(arn).toEqual({ 'Fn::GetAtt': [expect.stringMatching(/Function/), 'Arn'] });
    }
  });

  it('stands twice in one stack', () => {
    const stack = new Stack(quickApp(), 'Test');
    const first = new WorkflowWorker(stack, 'Cases', workerProps());
    const second = new WorkflowWorker(stack, 'Payments', workerProps({ fifo: true }));

    const outputs = Object.values(Template.fromStack(stack).findOutputs('*'));
    expect([first.workerName, second.workerName]).toEqual(['Cases', 'Payments']);
    for (const name of ['Cases', 'Payments']) {
      expect(
        outputs.filter(({ Value }) => JSON.stringify(Value).includes(`\\"workerName\\":\\"${name}\\"`)),
      ).toHaveLength(1);
    }
  });

  it('takes a queue that is there already', () => {
    const stack = new Stack(quickApp(), 'Test');
    const arn = (name: string) => `arn:aws:sqs:eu-west-1:123456789012:${name}`;
    const queue = Queue.fromQueueArn(stack, 'Q', arn('orders'));
    const deadLetterQueue = Queue.fromQueueArn(stack, 'D', arn('orders-dead'));
    new WorkflowWorker(stack, 'Worker', workerProps({ queue, deadLetterQueue }));

    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', { EventSourceArn: arn('orders') });
    expect(
      Object.values(template.findResources('AWS::SQS::Queue')).every(
        ({ Properties }) => Properties.RedrivePolicy === undefined,
      ),
    ).toBe(true);
  });
});
