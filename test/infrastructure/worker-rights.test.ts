import { ArnFormat, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { describe, expect, it } from 'vitest';
import { defineMessage } from '../../lambdas/core/message-type.ts';
import { defineProvider } from '../../lambdas/core/provider.ts';
import { caseDeadline } from '../../lambdas/messages/case-deadline.ts';
import type { WorkerFunction } from '../../lib/constructs/worker-function.ts';
import { WorkflowWorker } from '../../lib/constructs/workflow-worker.ts';
import { MESSAGES_ENTRY, quickApp, statementsOf, workerProps } from '../helpers/worker-template.ts';

/** A worker with everything switched on. */
function fullWorker(invalidMessages: 'dlq' | 'quarantine') {
  const stack = new Stack(quickApp(), 'Test');
  const orders = new Table(stack, 'Orders', { partitionKey: { name: 'id', type: AttributeType.STRING } });
  const secret = new Secret(stack, 'Secret');
  const worker = new WorkflowWorker(
    stack,
    'Worker',
    workerProps({
      messages: [caseDeadline, defineMessage({ ...caseDeadline, type: 'Sealed', data: 'reference' })],
      providers: [defineProvider({ name: 'Mail', operations: {} })],
      providersEntry: MESSAGES_ENTRY,
      providerSettings: {
        Mail: {
          secret,
          policy: [new PolicyStatement({ actions: ['ses:SendEmail'], resources: ['arn:aws:ses:its-own'] })],
        },
      },
      aggregates: { order: { table: orders, key: 'id', versionAttribute: 'version' } },
      maxInFlight: 100,
      invalidMessages,
    }),
  );
  const template = Template.fromStack(stack);
  const { table, payloadBucket, stateMachine } = worker;
  const machine = stateMachine.stateMachine;
  const own = (service: string, resource: string, resourceName: string) =>
    stack.formatArn({ service, resource, resourceName, arnFormat: ArnFormat.COLON_RESOURCE_NAME });
  /** Whole ARNs by a short name. */
  const places: Readonly<Record<string, string>> = {
    queue: worker.queue.queueArn,
    dlq: worker.deadLetterQueue.queueArn,
    quarantine: worker.quarantineQueue.queueArn,
    streamFailures: worker.streamFailureQueue.queueArn,
    table: table.tableArn,
    byAttention: `${table.tableArn}/index/byAttention`,
    byAggregate: `${table.tableArn}/index/byAggregate`,
    stream: String(table.tableStreamArn),
    orders: orders.tableArn,
    bucket: payloadBucket.bucketArn,
    payloads: `${payloadBucket.bucketArn}/payloads/*`,
    objects: `${payloadBucket.bucketArn}/*`,
    secret: secret.secretArn,
    machine: machine.stateMachineArn,
    executions: own('states', 'execution', `${machine.stateMachineName}:*`),
    eventSource: own('lambda', 'event-source-mapping', worker.eventSource.eventSourceMappingId),
  };
  const functions: Readonly<Record<string, WorkerFunction | undefined>> = {
    starter: worker.starter,
    plan: worker.plan,
    commit: worker.commit,
    reportFailure: worker.reportFailure,
    runEffect: worker.providers.Mail,
    waker: worker.waker,
    reconciler: worker.reconciler,
  };

  /** Rights as `action on place`, with the rows that they are held to. */
  function rightsOf(part: { readonly role: WorkerFunction['role'] } | undefined): readonly string[] {
    const names = new Map(
      [
        ...Object.entries(places),
        ...Object.entries(functions).flatMap(([name, made]): [string, string][] =>
          made === undefined ? [] : [[name, made.function.functionArn]],
        ),
        ...(part !== undefined && 'logGroup' in part
          ? [['log', Object(part.logGroup).logGroupArn] as const]
          : []),
      ].map(([name, arn]) => [JSON.stringify(stack.resolve(arn)), name] as const),
    );
    const role = stack.getLogicalId(Object(part?.role.node.defaultChild));
    return statementsOf(template, role)
      .flatMap(({ Action, Resource, Condition }) => {
        const { 'ForAllValues:StringLike': like, Null: absent, ...others } = Object(Condition);
        const rows = like?.['dynamodb:LeadingKeys'];
        // Without the second condition a request that names no key would pass.
        const held = absent?.['dynamodb:LeadingKeys'] === 'false' && Object.keys(others).length === 0;
        const where = Condition === undefined ? '' : held ? ` [${rows}]` : ` ${JSON.stringify(Condition)}`;
        return [Action].flat().flatMap((action) =>
          [Resource].flat().map((resource) => {
            const text = JSON.stringify(resource);
            return `${action} ${names.get(text) ?? text}${where}`;
          }),
        );
      })
      .sort();
  }
  return { worker, functions, rightsOf };
}

const LOG = ['logs:CreateLogStream log', 'logs:PutLogEvents log'];
const each = (service: string, actions: readonly string[], place: string) =>
  actions.map((action) => `${service}:${action} ${place}`);

/** Every right of every function: the action, and what of the worker it is for. */
const RIGHTS: Readonly<Record<string, readonly string[]>> = {
  starter: [
    ...each(
      'sqs',
      ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes', 'ChangeMessageVisibility'],
      'queue',
    ),
    'sqs:SendMessage quarantine',
    ...each('dynamodb', ['BatchGetItem', 'GetItem', 'PutItem', 'UpdateItem'], 'table [IDEMP#*,COUNTER#*]'),
    'dynamodb:PutItem table [QUARANTINE#*]',
    's3:PutObject payloads',
    'states:StartExecution machine',
  ],
  plan: [
    ...each('dynamodb', ['BatchGetItem', 'Query'], 'table'),
    'dynamodb:Query byAggregate',
    'dynamodb:GetItem orders',
    ...each('s3', ['GetObject', 'GetObjectVersion'], 'objects'),
    's3:ListBucket bucket',
    's3:PutObject payloads',
  ],
  commit: [
    ...each('dynamodb', ['PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'], 'table'),
    ...each('dynamodb', ['UpdateItem', 'ConditionCheckItem'], 'orders'),
    's3:GetObject payloads',
  ],
  reportFailure: ['dynamodb:UpdateItem table [IDEMP#*]'],
  runEffect: [
    ...each('dynamodb', ['PutItem', 'UpdateItem'], 'table [EFFECT#*]'),
    ...each('s3', ['GetObject', 'PutObject'], 'payloads'),
    'secretsmanager:GetSecretValue secret',
    'ses:SendEmail "arn:aws:ses:its-own"',
  ],
  waker: [
    ...each('dynamodb', ['DescribeStream', 'GetRecords', 'GetShardIterator'], 'stream'),
    'dynamodb:ListStreams "*"',
    'sqs:SendMessage streamFailures',
    ...each('dynamodb', ['BatchGetItem', 'Query', 'DeleteItem'], 'table'),
    ...each('dynamodb', ['PutItem', 'UpdateItem'], 'table [COUNTER#*]'),
    'states:SendTaskSuccess machine',
  ],
  reconciler: [
    ...each('states', ['ListExecutions', 'SendTaskSuccess'], 'machine'),
    'states:DescribeExecution executions',
    ...each(
      'dynamodb',
      ['BatchGetItem', 'ConditionCheckItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
      'table',
    ),
    'dynamodb:Query byAttention',
    'dynamodb:Query byAggregate',
    'sqs:SendMessage quarantine',
    ...each('lambda', ['GetEventSourceMapping', 'UpdateEventSourceMapping'], 'eventSource'),
  ],
};

describe('a role', () => {
  const full = fullWorker('quarantine');

  it.each(Object.entries(RIGHTS))('of %s is for what of the worker its function works on', (name, rights) => {
    expect(full.rightsOf(full.functions[name])).toEqual([...LOG, ...rights].sort());
  });

  it('of the state machine is for its own functions, the table and the quarantine queue', () => {
    const ofLogs = /^logs:\w+ "\*"$/;
    expect(full.rightsOf(full.worker.stateMachine).filter((right) => !ofLogs.test(right))).toEqual(
      [
        ...['plan', 'commit', 'reportFailure', 'runEffect'].map((name) => `lambda:InvokeFunction ${name}`),
        ...each('dynamodb', ['PutItem', 'UpdateItem', 'ConditionCheckItem'], 'table'),
        'sqs:SendMessage quarantine',
      ].sort(),
    );
  });

  it('of a starter that gives invalid messages to the dead-letter queue keeps no case', () => {
    const plain = fullWorker('dlq');
    const rights = plain.rightsOf(plain.functions.starter);
    expect(rights).toContain('sqs:SendMessage dlq');
    expect(rights.filter((right) => /quarantine/i.test(right))).toEqual([]);
  });
});
