import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { AttributeType, StreamViewType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { describe, expect, it } from 'vitest';
import { OutboxPipe } from '../../lib/constructs/outbox-pipe.ts';
import { testWorker } from '../helpers/template.ts';

describe('OutboxPipe', () => {
  it('publishes new outbox rows and nothing else of the table', () => {
    const { stack, worker } = testWorker();
    new OutboxPipe(stack, 'Outbox', { table: worker.table, target: new Queue(stack, 'Next') });
    Template.fromStack(stack).hasResourceProperties('AWS::Pipes::Pipe', {
      SourceParameters: {
        FilterCriteria: {
          Filters: [
            { Pattern: '{"eventName":["INSERT"],"dynamodb":{"Keys":{"PK":{"S":[{"prefix":"OUTBOX#"}]}}}}' },
          ],
        },
        DynamoDBStreamParameters: {
          // What was written before the pipe stood is published too.
          StartingPosition: 'TRIM_HORIZON',
          OnPartialBatchItemFailure: 'AUTOMATIC_BISECT',
          DeadLetterConfig: { Arn: { 'Fn::GetAtt': [Match.stringLikeRegexp('Unpublished'), 'Arn'] } },
        },
      },
      TargetParameters: { InputTemplate: '<$.dynamodb.NewImage.envelope.S>' },
    });
  });

  it('may read one stream and send to two queues, and use the keys of what it reads and sends to', () => {
    const stack = new Stack();
    const keys = { table: new Key(stack, 'KeyOfTable'), target: new Key(stack, 'KeyOfTarget') };
    const table = new Table(stack, 'Cases', {
      partitionKey: { name: 'PK', type: AttributeType.STRING },
      stream: StreamViewType.NEW_IMAGE,
      encryptionKey: keys.table,
    });
    const target = new Queue(stack, 'Next', { encryptionMasterKey: keys.target });
    const { deadLetterQueue } = new OutboxPipe(stack, 'Outbox', { table, target });
    const policies = Template.fromStack(stack).findResources('AWS::IAM::Policy', {
      Properties: { PolicyName: Match.stringLikeRegexp('OutboxRole') },
    });
    const statements: readonly { Action: string | readonly string[]; Resource: unknown }[] = Object.values(
      policies,
    ).flatMap(({ Properties }) => Properties.PolicyDocument.Statement);
    const rights = statements.flatMap(({ Action, Resource }) =>
      [Action].flat().map((action) => `${action} ${JSON.stringify(Resource)}`),
    );
    const on = (arn: string | undefined, ...actions: readonly string[]) =>
      actions.map((action) => `${action} ${JSON.stringify(stack.resolve(arn))}`);

    expect(rights.sort()).toEqual(
      [
        ...on(
          table.tableStreamArn,
          'dynamodb:DescribeStream',
          'dynamodb:GetRecords',
          'dynamodb:GetShardIterator',
        ),
        ...on('*', 'dynamodb:ListStreams'),
        ...on(deadLetterQueue.queueArn, 'sqs:SendMessage'),
        ...on(target.queueArn, 'sqs:SendMessage'),
        ...on(keys.table.keyArn, 'kms:Decrypt', 'kms:GenerateDataKey'),
        ...on(keys.target.keyArn, 'kms:Decrypt', 'kms:GenerateDataKey'),
      ].sort(),
    );
  });

  it('lends its role to pipes of the account alone', () => {
    const { stack, worker } = testWorker();
    new OutboxPipe(stack, 'Outbox', { table: worker.table, target: new Queue(stack, 'Next') });
    Template.fromStack(stack).hasResourceProperties('AWS::IAM::Role', {
      AssumeRolePolicyDocument: {
        Statement: [
          {
            Principal: { Service: 'pipes.amazonaws.com' },
            Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
          },
        ],
      },
    });
  });

  it('keeps what it could not publish, or lets it go with the stack where that is said', () => {
    for (const [removalPolicy, policy] of [
      [undefined, 'Retain'],
      [RemovalPolicy.DESTROY, 'Delete'],
    ] as const) {
      const { stack, worker } = testWorker();
      new OutboxPipe(stack, 'Outbox', {
        table: worker.table,
        target: new Queue(stack, 'Next'),
        ...(removalPolicy === undefined ? {} : { removalPolicy }),
      });
      const kept = Object.entries(Template.fromStack(stack).findResources('AWS::SQS::Queue')).filter(([id]) =>
        id.startsWith('OutboxUnpublished'),
      );
      expect(kept.map(([, queue]) => queue)).toEqual([
        expect.objectContaining({
          DeletionPolicy: policy,
          Properties: expect.objectContaining({ MessageRetentionPeriod: 14 * 86_400 }),
        }),
      ]);
    }
  });

  it('publishes to a bus under a detail type', () => {
    const { stack, worker } = testWorker();
    new OutboxPipe(stack, 'Outbox', {
      table: worker.table,
      target: new EventBus(stack, 'Bus'),
      detailType: 'Case',
    });
    Template.fromStack(stack).hasResourceProperties('AWS::Pipes::Pipe', {
      TargetParameters: { EventBridgeEventBusParameters: { DetailType: 'Case', Source: 'stepwell' } },
    });
  });

  it('refuses a FIFO queue, whose groups it could not name', () => {
    const { stack, worker } = testWorker();
    const target = new Queue(stack, 'Next', { fifo: true });
    expect(() => new OutboxPipe(stack, 'Outbox', { table: worker.table, target })).toThrow(/FIFO/);
  });

  it('refuses a second pipe on a table, and names every fault at once', () => {
    const { stack, worker } = testWorker();
    new OutboxPipe(stack, 'Outbox', { table: worker.table, target: new Queue(stack, 'Next') });
    const target = new Queue(stack, 'Ordered', { fifo: true });
    expect(() => new OutboxPipe(stack, 'Again', { table: worker.table, target })).toThrow(
      /table: is published by Test\/Outbox already[\s\S]*target: is a FIFO queue/,
    );
  });

  it('refuses a table without a stream', () => {
    const stack = new Stack();
    const table = Table.fromTableName(stack, 'Table', 'cases');
    expect(() => new OutboxPipe(stack, 'Outbox', { table, target: new Queue(stack, 'Next') })).toThrow(
      /stream/,
    );
  });
});
