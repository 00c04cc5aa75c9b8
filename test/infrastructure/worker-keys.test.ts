import { fileURLToPath } from 'node:url';
import { Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { AttributeType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { describe, expect, it } from 'vitest';
import { providers } from '../../lambdas/providers/index.ts';
import { WorkflowWorker } from '../../lib/constructs/workflow-worker.ts';
import { WorkerStack } from '../../lib/worker-stack.ts';
import { quickApp, statementsOf, workerProps } from '../helpers/worker-template.ts';

const PROVIDERS = {
  providers,
  providersEntry: fileURLToPath(new URL('../../lambdas/providers/index.ts', import.meta.url)),
};
const KEY_ARN = 'arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555';
const ENV = { env: { account: '111122223333', region: 'eu-west-1' } };

/** A worker with alarms, outbox and one key for all, defined in a stack of its own. */
function keyed() {
  const app = quickApp();
  const around = new Stack(app, 'Around', ENV);
  const encryptionKey = new Key(around, 'Key');
  const target = new Queue(around, 'Next', { encryptionMasterKey: new Key(around, 'Other') });
  const stack = new WorkerStack(app, 'Test', {
    ...ENV,
    worker: workerProps({ ...PROVIDERS, encryptionKey }),
    outboxTarget: target,
  });
  const template = Template.fromStack(stack);
  const [key] = Object.entries(Template.fromStack(around).findResources('AWS::KMS::Key')).filter(([id]) =>
    id.startsWith('Key'),
  );
  const policy: readonly KeyStatement[] = key?.[1].Properties.KeyPolicy.Statement;
  return { template, policy, stack };
}

interface KeyStatement {
  readonly Principal: { readonly Service?: unknown };
  readonly Action: string | readonly string[];
  readonly Condition?: unknown;
}

describe('a customer key', () => {
  const { template, policy, stack } = keyed();
  const grantsTo = (service: string) =>
    policy.filter(({ Principal }) => JSON.stringify(Principal.Service)?.includes(service));

  it('lets CloudWatch publish alarms to the topic, for this account only', () => {
    const [grant, ...others] = grantsTo('cloudwatch.amazonaws.com');
    expect(others).toEqual([]);
    expect(grant).toMatchObject({
      Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
      Condition: { StringEquals: { 'aws:SourceAccount': expect.anything() } },
    });
    template.hasResourceProperties('AWS::SNS::Topic', { KmsMasterKeyId: Match.anyValue() });
  });

  it('lets Logs encrypt this account’s log groups', () => {
    const [grant] = grantsTo('logs.eu-west-1.amazonaws.com');
    expect(grant?.Action).toEqual([
      'kms:Encrypt',
      'kms:Decrypt',
      'kms:ReEncrypt*',
      'kms:GenerateDataKey*',
      'kms:DescribeKey',
    ]);
    expect(JSON.stringify(grant?.Condition)).toContain(':logs:eu-west-1:111122223333:log-group:*');
  });

  it('lets the delivery of the state machine’s log read what is encrypted', () => {
    expect(grantsTo('delivery.logs.amazonaws.com')).toContainEqual(
      expect.objectContaining({
        Action: 'kms:Decrypt',
        Condition: { StringEquals: { 'aws:SourceAccount': '111122223333' } },
      }),
    );
  });

  it('may be used by every function, by the state machine and by the pipe', () => {
    const roles = Object.keys(template.findResources('AWS::IAM::Role'));
    expect(roles.length).toBeGreaterThan(11);
    for (const role of roles) {
      const actions = statementsOf(template, role)
        // CDK lets the state machine use it for its own data alone, on a condition.
        .filter(({ Condition }) => Condition === undefined)
        .filter(({ Resource }) => JSON.stringify(Resource).includes('ExportsOutputFnGetAttKey'))
        .flatMap(({ Action }) => Action);
      expect(actions, role).toEqual(expect.arrayContaining(['kms:Decrypt', 'kms:GenerateDataKey']));
    }
  });

  it('is not enough for a queue that another key encrypts: the pipe may use that one as well', () => {
    const [pipe = ''] = Object.keys(template.findResources('AWS::IAM::Role')).filter((id) =>
      id.startsWith('OutboxRole'),
    );
    const other = statementsOf(template, pipe).filter(({ Resource }) =>
      JSON.stringify(Resource).includes('ExportsOutputFnGetAttOther'),
    );
    expect(other.flatMap(({ Action }) => Action).sort()).toEqual(['kms:Decrypt', 'kms:GenerateDataKey']);
  });

  it('encrypts environments, payloads, queues, table, machine and logs, the pipe’s own queue too', () => {
    const keyOf: Readonly<Record<string, (properties: Record<string, unknown>) => unknown>> = {
      'AWS::Lambda::Function': ({ KmsKeyArn }) => KmsKeyArn,
      'AWS::SQS::Queue': ({ KmsMasterKeyId }) => KmsMasterKeyId,
      'AWS::DynamoDB::Table': ({ SSESpecification }) => Object(SSESpecification).KMSMasterKeyId,
      'AWS::S3::Bucket': ({ BucketEncryption }) =>
        JSON.stringify(BucketEncryption).includes('KMSMasterKeyID') || undefined,
      'AWS::StepFunctions::StateMachine': ({ EncryptionConfiguration }) =>
        Object(EncryptionConfiguration).KmsKeyId,
      'AWS::Logs::LogGroup': ({ KmsKeyId }) => KmsKeyId,
    };
    for (const [type, key] of Object.entries(keyOf)) {
      const found = Object.entries(template.findResources(type));
      expect(found.length, type).toBeGreaterThan(0);
      for (const [id, { Properties }] of found) expect(key(Properties), id).toBeDefined();
    }
  });

  it('leaves every queue, the topic and the bucket to TLS alone', () => {
    const kinds = { 'AWS::SQS::Queue': 4, 'AWS::SNS::Topic': 1, 'AWS::S3::Bucket': 1 };
    for (const [type, least] of Object.entries(kinds)) {
      const ids = Object.keys(template.findResources(type));
      expect(ids.length, type).toBeGreaterThanOrEqual(least);
      const denying = Object.values(template.findResources(`${type}Policy`)).filter(({ Properties }) =>
        /"Condition":\{"Bool":\{"aws:SecureTransport":"false"\}\},"Effect":"Deny"/.test(
          JSON.stringify(Properties.PolicyDocument),
        ),
      );
      for (const id of ids) {
        expect(
          denying.filter(({ Properties }) => JSON.stringify(Properties).includes(`"${id}"`)),
          id,
        ).toHaveLength(1);
      }
    }
  });

  it('needs no grant to EventBridge: what its rules invoke is a function, which no key encrypts', () => {
    const rules = Object.values(template.findResources('AWS::Events::Rule'));
    expect(rules.length).toBeGreaterThan(1);
    for (const { Properties } of rules) {
      for (const { Arn, DeadLetterConfig } of Properties.Targets) {
        expect(JSON.stringify(Arn)).toContain('WorkerReconcilerFunction');
        expect(DeadLetterConfig).toBeUndefined();
      }
    }
    expect(grantsTo('events.amazonaws.com')).toEqual([]);
    expect(stack.outbox).toBeDefined();
  });
});

describe('an imported key', () => {
  it('is used as it is: its policy is its owner’s, and docs/deploying.md says what must be in it', () => {
    const app = quickApp();
    const around = new Stack(app, 'Around', ENV);
    const stack = new WorkerStack(app, 'Test', {
      ...ENV,
      worker: workerProps({ encryptionKey: Key.fromKeyArn(around, 'Key', KEY_ARN) }),
    });
    const template = Template.fromStack(stack);
    template.resourceCountIs('AWS::KMS::Key', 0);
    template.allResourcesProperties('AWS::SQS::Queue', { KmsMasterKeyId: KEY_ARN });
    template.allResourcesProperties('AWS::SNS::Topic', { KmsMasterKeyId: KEY_ARN });
  });
});

describe('keys of what is imported', () => {
  const stack = new Stack(quickApp(), 'Test', ENV);
  const arn = (service: string, name: string) => `arn:aws:${service}:eu-west-1:111122223333:${name}`;
  const names = ['queue', 'dlq', 'table', 'orders', 'documents', 'secret'];
  const keyArn = (name: string) =>
    arn('kms', `key/11111111-2222-3333-4444-55555555555${names.indexOf(name)}`);
  const key = (name: string) => Key.fromKeyArn(stack, `KeyOf${name}`, keyArn(name));
  const queue = (name: string) =>
    Queue.fromQueueAttributes(stack, name, { queueArn: arn('sqs', name), keyArn: keyArn(name) });
  const table = Table.fromTableAttributes(stack, 'Table', {
    tableArn: arn('dynamodb', 'table/cases'),
    tableStreamArn: arn('dynamodb', 'table/cases/stream/1'),
    encryptionKey: key('table'),
  });
  const orders = new Table(stack, 'Orders', {
    partitionKey: { name: 'id', type: AttributeType.STRING },
    encryptionKey: key('orders'),
  });
  const documents = Bucket.fromBucketAttributes(stack, 'Documents', {
    bucketName: 'documents',
    encryptionKey: key('documents'),
  });
  const worker = new WorkflowWorker(
    stack,
    'Worker',
    workerProps({
      ...PROVIDERS,
      queue: queue('queue'),
      deadLetterQueue: queue('dlq'),
      table,
      payloadBuckets: [documents],
      aggregates: { order: { table: orders, key: 'id', versionAttribute: 'version' } },
      providerSettings: {
        Payments: { secret: new Secret(stack, 'Secret', { encryptionKey: key('secret') }) },
      },
    }),
  );
  const {
    starter,
    plan,
    commit,
    reportFailure,
    waker,
    reconciler,
    stateMachine,
    providers: effects,
  } = worker;
  const parts = { starter, plan, commit, reportFailure, waker, reconciler, stateMachine, ...effects };
  const template = Template.fromStack(stack);
  /** Which parts may do what with a key. */
  const usersOf = (name: string) =>
    Object.fromEntries(
      Object.entries(parts).flatMap(([part, { role }]) => {
        const actions = statementsOf(template, stack.getLogicalId(Object(role.node.defaultChild)))
          .filter(({ Resource }) => [Resource].flat().includes(keyArn(name)))
          .flatMap(({ Action }) => Action);
        return actions.length === 0 ? [] : [[part, actions]];
      }),
    );
  const all = ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey'];

  it.each(['queue', 'dlq', 'table', 'documents'])('let every part work with the %s', (name) => {
    expect(usersOf(name)).toEqual(Object.fromEntries(Object.keys(parts).map((part) => [part, all])));
  });

  it('let Plan and Commit alone work with a table of the domain', () => {
    expect(usersOf('orders')).toEqual({ plan: all, commit: all });
  });

  it('let the provider alone read its secret', () => {
    expect(usersOf('secret')).toEqual({ Payments: ['kms:Decrypt'] });
  });
});
