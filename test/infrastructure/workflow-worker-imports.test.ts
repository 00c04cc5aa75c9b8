import { Duration, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import {
  AttributeType,
  StreamViewType,
  Table,
  type TableProps,
  type TablePropsV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Queue, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { describe, expect, it } from 'vitest';
import { INDEXES } from '../../lambdas/core/table.ts';
import { WorkflowWorker } from '../../lib/constructs/workflow-worker.ts';
import type { WorkflowWorkerProps } from '../../lib/constructs/workflow-worker-props.ts';
import { quickApp, workerProps } from '../helpers/worker-template.ts';

const REGION = { env: { account: '111122223333', region: 'eu-west-1' } };
const text = (name: string) => ({ name, type: AttributeType.STRING });
const create = (stack: Stack, props: Partial<WorkflowWorkerProps>, id = 'Worker') =>
  new WorkflowWorker(stack, id, workerProps(props));
const own = () => new Stack(quickApp(), 'Own', REGION);

const RIGHT_TABLE: TableProps = {
  partitionKey: text('PK'),
  sortKey: text('SK'),
  timeToLiveAttribute: 'ttl',
  stream: StreamViewType.NEW_AND_OLD_IMAGES,
};

function tableOf(stack: Stack, props: Partial<TableProps> = {}, indexes = Object.values(INDEXES)) {
  const table = new Table(stack, 'Mine', { ...RIGHT_TABLE, ...props });
  for (const { name, partitionKey, sortKey } of indexes) {
    table.addGlobalSecondaryIndex({
      indexName: name,
      partitionKey: text(partitionKey),
      sortKey: text(sortKey),
    });
  }
  return table;
}

function queueOf(
  stack: Stack,
  props: QueueProps = {},
  dead: QueueProps = { retentionPeriod: Duration.days(14) },
) {
  const deadLetterQueue = { queue: new Queue(stack, 'Dead', dead), maxReceiveCount: 100 };
  return new Queue(stack, 'Mine', { visibilityTimeout: Duration.seconds(180), deadLetterQueue, ...props });
}

describe('a queue of the same app', () => {
  it('is taken with the dead-letter queue that it was defined with', () => {
    const stack = own();
    const queue = queueOf(stack);
    const worker = create(stack, { queue });
    expect(worker.deadLetterQueue).toBe(queue.deadLetterQueue?.queue);
  });

  it.each<readonly [string, QueueProps, QueueProps | undefined, RegExp]>([
    [
      'hides messages for too short a time',
      { visibilityTimeout: Duration.seconds(60) },
      undefined,
      /queue: must have a visibility time-out of at least .* = 180 s, has 60 s/,
    ],
    [
      'keeps messages as long as its dead-letter queue',
      { retentionPeriod: Duration.days(14) },
      undefined,
      /deadLetterQueue: must keep messages longer than the queue \(1209600 s\), keeps them 1209600 s/,
    ],
    [
      'leaves both retentions to SQS',
      {},
      {},
      /deadLetterQueue: must keep messages longer than the queue \(345600 s\), keeps them 345600 s/,
    ],
  ])('is refused when it %s', (_name, props, dead, message) => {
    const stack = own();
    expect(() => create(stack, { queue: queueOf(stack, props, dead) })).toThrow(message);
  });

  it('is refused when overload empties it into its dead-letter queue', () => {
    const stack = own();
    const dead = new Queue(stack, 'Dead', { retentionPeriod: Duration.days(14) });
    const queue = queueOf(new Stack(stack, 'Nested'), {
      deadLetterQueue: { queue: dead, maxReceiveCount: 3 },
    });
    expect(() => create(stack, { queue })).toThrow(/queue: .* maxReceiveCount of at least 5, has 3/);
  });

  it('is refused without a redrive policy, and with props that would not reach it', () => {
    const stack = own();
    const queue = new Queue(stack, 'Mine', { visibilityTimeout: Duration.seconds(180) });
    const deadLetterQueue = new Queue(stack, 'Dead', { retentionPeriod: Duration.days(14) });
    expect(() => create(stack, { queue, deadLetterQueue, fifo: true, maxReceiveCount: 50 })).toThrow(
      /fifo: has no effect on an imported queue[\s\S]*maxReceiveCount: has no effect[\s\S]*maxReceiveCount of at least 5, has none/,
    );
  });
});

describe('a table of the same app', () => {
  it('is taken when it has keys, indexes, stream and time to live', () => {
    const stack = own();
    const table = tableOf(stack);
    expect(create(stack, { table }).table).toBe(table);
    Template.fromStack(stack).resourceCountIs('AWS::DynamoDB::Table', 1);
  });

  it.each<readonly [string, Partial<TableProps>, readonly RegExp[]]>([
    [
      'streams keys only',
      { stream: StreamViewType.KEYS_ONLY },
      [/must stream new and old images, streams KEYS_ONLY/],
    ],
    [
      'expires by another attribute',
      { timeToLiveAttribute: 'expires' },
      [/time to live on the attribute ttl/],
    ],
    ['has other keys', { partitionKey: text('id') }, [/must have the partition key PK and the sort key SK/]],
  ])('is refused when it %s', (_name, props, messages) => {
    const stack = own();
    const creating = () => create(stack, { table: tableOf(stack, props) });
    for (const message of messages) expect(creating).toThrow(message);
  });

  it.each(Object.values(INDEXES))('is refused without the index $name', ({ name }) => {
    const stack = own();
    const others = Object.values(INDEXES).filter((index) => index.name !== name);
    expect(() => create(stack, { table: tableOf(stack, {}, others) })).toThrow(
      new RegExp(`table: must have an index ${name} with the keys`),
    );
  });

  it('is refused with a replica in another Region', () => {
    const stack = own();
    const props: TablePropsV2 = {
      partitionKey: text('PK'),
      sortKey: text('SK'),
      timeToLiveAttribute: 'ttl',
      dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES,
      globalSecondaryIndexes: Object.values(INDEXES).map(({ name, partitionKey, sortKey }) => ({
        indexName: name,
        partitionKey: text(partitionKey),
        sortKey: text(sortKey),
      })),
    };
    const alone = new TableV2(stack, 'Alone', props);
    expect(() => create(stack, { table: alone }, 'First')).not.toThrow();
    const replicated = new TableV2(stack, 'Everywhere', { ...props, replicas: [{ region: 'us-east-1' }] });
    expect(() => create(stack, { table: replicated }, 'Second')).toThrow(/table: must have no replica/);
  });
});

describe('what another Region has', () => {
  it('is refused, each with both Regions named', () => {
    const stack = own();
    const there = 'us-east-1:111122223333';
    const queue = Queue.fromQueueArn(stack, 'Q', `arn:aws:sqs:${there}:orders`);
    const deadLetterQueue = Queue.fromQueueArn(stack, 'D', `arn:aws:sqs:${there}:dead`);
    const encryptionKey = Key.fromKeyArn(
      stack,
      'K',
      `arn:aws:kms:${there}:key/11111111-2222-3333-4444-555555555555`,
    );
    const table = Table.fromTableAttributes(stack, 'T', {
      tableArn: `arn:aws:dynamodb:${there}:table/cases`,
      tableStreamArn: `arn:aws:dynamodb:${there}:table/cases/stream/1`,
    });
    let tries = 0;
    const creating = () => {
      tries += 1;
      create(stack, { queue, deadLetterQueue, encryptionKey, table }, `Worker${tries}`);
    };
    for (const prop of ['queue', 'deadLetterQueue', 'encryptionKey', 'table']) {
      expect(creating).toThrow(
        new RegExp(`- ${prop}: must be in the worker's Region eu-west-1, is in us-east-1`),
      );
    }
  });
});

describe('imported table, key and VPC', () => {
  it('are used by name', () => {
    const stack = own();
    const home = 'eu-west-1:111122223333';
    const table = Table.fromTableAttributes(stack, 'T', {
      tableArn: `arn:aws:dynamodb:${home}:table/cases`,
      tableStreamArn: `arn:aws:dynamodb:${home}:table/cases/stream/1`,
    });
    const encryptionKey = Key.fromKeyArn(
      stack,
      'K',
      `arn:aws:kms:${home}:key/11111111-2222-3333-4444-555555555555`,
    );
    const vpc = Vpc.fromVpcAttributes(stack, 'V', {
      vpcId: 'vpc-12345678',
      availabilityZones: ['eu-west-1a'],
      privateSubnetIds: ['subnet-12345678'],
    });
    create(stack, { table, encryptionKey, vpc });
    const template = Template.fromStack(stack);
    template.resourceCountIs('AWS::DynamoDB::Table', 0);
    template.resourceCountIs('AWS::KMS::Key', 0);
    template.allResourcesProperties('AWS::Lambda::Function', {
      KmsKeyArn: `arn:aws:kms:${home}:key/11111111-2222-3333-4444-555555555555`,
      VpcConfig: { SubnetIds: ['subnet-12345678'] },
    });
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      EventSourceArn: `arn:aws:dynamodb:${home}:table/cases/stream/1`,
    });
  });
});

describe('workers beside each other', () => {
  it('are refused one table, by whatever name it is passed', () => {
    const stack = own();
    const first = create(stack, {}, 'First');
    expect(() => create(stack, { table: first.table }, 'Second')).toThrow(
      /table: is the table of the worker Own\/First: a table has one worker/,
    );
    const named = (id: string) =>
      Table.fromTableAttributes(stack, id, {
        tableArn: 'arn:aws:dynamodb:eu-west-1:111122223333:table/cases',
        tableStreamArn: 'arn:aws:dynamodb:eu-west-1:111122223333:table/cases/stream/1',
      });
    create(stack, { table: named('A') }, 'Third');
    expect(() => create(stack, { table: named('B') }, 'Fourth')).toThrow(/the worker Own\/Third/);
  });

  it('are refused one queue, and one name in a stack', () => {
    const stack = own();
    const queue = queueOf(stack);
    create(stack, { queue, workerName: 'cases' }, 'First');
    expect(() => create(stack, { queue, workerName: 'cases' }, 'Second')).toThrow(
      /queue: is the queue of the worker Own\/First[\s\S]*workerName: is the name of the worker Own\/First/,
    );
  });

  it.each([
    ['that are named', REGION],
    ['that the deployment decides', {}],
  ])(
    'are refused one name in two stacks of an account and Region %s, whose metrics would be one',
    (_name, env) => {
      const app = quickApp();
      create(new Stack(app, 'First', env), {});
      expect(() => create(new Stack(app, 'Second', env), {})).toThrow(
        /workerName: is the name of the worker First\/Worker as well/,
      );
      expect(() => create(new Stack(app, 'Third', env), { workerName: 'other' })).not.toThrow();
    },
  );

  it('are one worker in two Regions, each with everything of its own', () => {
    const app = quickApp();
    const stacks = ['eu-west-1', 'us-east-1'].map((region) => {
      const stack = new Stack(app, `Worker-${region}`, { env: { account: '111122223333', region } });
      create(stack, { workerName: 'cases' });
      return stack;
    });
    const templates = stacks.map((stack) => Template.fromStack(stack).toJSON());
    const [here, there] = templates.map((template) => JSON.stringify(template));
    const types = templates.map(({ Resources }) =>
      Object.values(Resources).map((resource) => Object(resource).Type),
    );
    expect(types[0]).toContain('AWS::DynamoDB::Table');
    expect(types[0]).toEqual(types[1]);
    expect(here).not.toContain('us-east-1');
    expect(there).not.toContain('eu-west-1');
    expect(JSON.stringify(templates)).not.toContain('Fn::ImportValue');
  });
});
