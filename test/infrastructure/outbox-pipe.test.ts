import { Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Table } from 'aws-cdk-lib/aws-dynamodb';
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
          OnPartialBatchItemFailure: 'AUTOMATIC_BISECT',
          DeadLetterConfig: { Arn: { 'Fn::GetAtt': [Match.stringLikeRegexp('Unpublished'), 'Arn'] } },
        },
      },
      TargetParameters: { InputTemplate: '<$.dynamodb.NewImage.envelope.S>' },
    });
  });

  it('may read one stream and send to one queue, and holds keys of both', () => {
    const { stack, worker } = testWorker();
    const target = new Queue(stack, 'Next', { encryptionMasterKey: new Key(stack, 'Key') });
    new OutboxPipe(stack, 'Outbox', { table: worker.table, target });
    const policies = Template.fromStack(stack).findResources('AWS::IAM::Policy', {
      Properties: { PolicyName: Match.stringLikeRegexp('OutboxRole') },
    });
    const statements: readonly { Action: string | readonly string[] }[] = Object.values(policies).flatMap(
      ({ Properties }) => Properties.PolicyDocument.Statement,
    );
    const actions = statements.flatMap(({ Action }) => Action);
    expect([...new Set(actions)].sort()).toEqual([
      'dynamodb:DescribeStream',
      'dynamodb:GetRecords',
      'dynamodb:GetShardIterator',
      'dynamodb:ListStreams',
      'kms:Decrypt',
      'kms:GenerateDataKey',
      'sqs:SendMessage',
    ]);
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
