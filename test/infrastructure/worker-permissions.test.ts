import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { describe, expect, it } from 'vitest';
import { defineMessage } from '../../lambdas/core/message-type.ts';
import { defineProvider } from '../../lambdas/core/provider.ts';
import { caseDeadline } from '../../lambdas/messages/case-deadline.ts';
import type { WorkerFunction } from '../../lib/constructs/worker-function.ts';
import { WorkflowWorker } from '../../lib/constructs/workflow-worker.ts';
import { functionCode } from '../helpers/function-code.ts';
import {
  actionsOf,
  MESSAGES_ENTRY,
  quickApp,
  statementsOf,
  workerProps,
} from '../helpers/worker-template.ts';

/** A worker with everything switched on, so that no right is missing because nobody asked for it. */
function fullWorker(invalidMessages: 'dlq' | 'quarantine' = 'quarantine') {
  const stack = new Stack(quickApp(), 'Test');
  const table = new Table(stack, 'Orders', { partitionKey: { name: 'id', type: AttributeType.STRING } });
  const worker = new WorkflowWorker(
    stack,
    'Worker',
    workerProps({
      messages: [caseDeadline, defineMessage({ ...caseDeadline, type: 'Sealed', data: 'reference' })],
      providers: [defineProvider({ name: 'Payments', operations: {} })],
      providersEntry: MESSAGES_ENTRY,
      providerSettings: { Payments: { secret: new Secret(stack, 'Secret') } },
      aggregates: { order: { table, key: 'id', versionAttribute: 'version' } },
      maxInFlight: 100,
      invalidMessages,
    }),
  );
  return { stack, worker, template: Template.fromStack(stack) };
}

const full = fullWorker();
const roleOf = (part: { readonly role: WorkerFunction['role'] }): string =>
  full.stack.getLogicalId(Object(part.role.node.defaultChild));

const SERVICES: Readonly<Record<string, string>> = {
  '@aws-sdk/client-dynamodb': 'dynamodb',
  '@aws-sdk/client-lambda': 'lambda',
  '@aws-sdk/client-s3': 's3',
  '@aws-sdk/client-secrets-manager': 'secretsmanager',
  '@aws-sdk/client-sfn': 'states',
  '@aws-sdk/client-sqs': 'sqs',
};
const TRANSACTION_ACTIONS: Readonly<Record<string, string>> = {
  Put: 'dynamodb:PutItem',
  Update: 'dynamodb:UpdateItem',
  Delete: 'dynamodb:DeleteItem',
  ConditionCheck: 'dynamodb:ConditionCheckItem',
};

/** The actions that a function's code calls: the commands left in its bundle once unused code is gone. */
function calledBy(folder: string): Set<string> {
  const code = functionCode(folder);
  const actions = new Set<string>();
  for (const [, names = '', source = ''] of code.matchAll(/import \{([^}]*)\} from "(@aws-sdk\/[^"]+)"/g)) {
    for (const [, imported = '', local] of names.matchAll(/(\w+)Command(?: as (\w+))?/g)) {
      if (!new RegExp(`new ${local ?? `${imported}Command`}\\(`).test(code)) continue;
      if (imported === 'TransactWriteItems') {
        for (const [, kind = ''] of code.matchAll(/\b(Put|Update|Delete|ConditionCheck): \{/g)) {
          actions.add(TRANSACTION_ACTIONS[kind] ?? kind);
        }
      } else {
        actions.add(`${SERVICES[source] ?? source}:${imported}`);
      }
    }
  }
  return actions;
}

/** Rights that no call of the code shows, with who needs them. */
const BESIDES = {
  logs: ['logs:CreateLogStream', 'logs:PutLogEvents'],
  queueSource: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
  streamSource: [
    'dynamodb:DescribeStream',
    'dynamodb:GetRecords',
    'dynamodb:GetShardIterator',
    'dynamodb:ListStreams',
    // Where records go that could not be dealt with.
    'sqs:SendMessage',
  ],
  // GetObject with a version, and "not found" told from "denied".
  objects: ['s3:GetObjectVersion', 's3:ListBucket'],
};

const { worker, template } = full;
const payments = worker.providers.Payments;
const FUNCTIONS: readonly (readonly [
  string,
  WorkerFunction | undefined,
  readonly string[],
  readonly string[],
])[] = [
  // The starter reads rows by their keys; the reader that it shares with Plan could also query.
  ['starter', worker.starter, BESIDES.queueSource, ['dynamodb:Query']],
  ['plan', worker.plan, BESIDES.objects, []],
  ['commit', worker.commit, [], []],
  ['report-failure', worker.reportFailure, [], []],
  ['run-effect', payments, [], []],
  ['waker', worker.waker, BESIDES.streamSource, []],
  ['reconciler', worker.reconciler, [], []],
];

describe('roles', () => {
  it.each(FUNCTIONS)('let %s do what its code calls, and nothing else', (folder, part, besides, uncalled) => {
    expect(part).toBeDefined();
    if (part === undefined) return;
    const expected = new Set([...calledBy(folder), ...BESIDES.logs, ...besides]);

    for (const action of uncalled) expected.delete(action);

    expect(actionsOf(template, roleOf(part))).toEqual([...expected].sort());
  });

  it('leave Plan without any way to write an item', () => {
    expect(
      actionsOf(template, roleOf(worker.plan)).filter((action) =>
        /^dynamodb:(?!BatchGet|Get|Query)/.test(action),
      ),
    ).toEqual([]);
  });

  it('hold the starter’s and RunEffect’s writes to their own rows', () => {
    const keysOf = (part: WorkerFunction) =>
      statementsOf(template, roleOf(part))
        .filter(({ Action }) =>
          [Action].flat().some((action) => /^dynamodb:(Put|Update|Delete)/.test(action)),
        )
        .map(({ Condition }) => Object(Condition)['ForAllValues:StringLike']?.['dynamodb:LeadingKeys']);

    expect(keysOf(worker.starter).flat().sort()).toEqual(['COUNTER#*', 'IDEMP#*', 'QUARANTINE#*']);
    expect(payments === undefined ? [] : keysOf(payments).flat()).toEqual(['EFFECT#*']);
    expect(keysOf(worker.reportFailure).flat()).toEqual(['IDEMP#*']);
  });

  it('let the state machine invoke its functions, write failures and announce a quarantine', () => {
    const actions = actionsOf(template, roleOf(worker.stateMachine)).filter(
      (action) => !action.startsWith('logs:'),
    );

    expect(actions).toEqual([
      'dynamodb:ConditionCheckItem',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
      'lambda:InvokeFunction',
      'sqs:SendMessage',
    ]);
  });

  it('name no action by a wildcard, and no resource but where the service knows none', () => {
    const free = Object.values(template.findResources('AWS::IAM::Policy'))
      .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
      .filter(({ Resource }) => [Resource].flat().includes('*'))
      .flatMap(({ Action }) => Action);

    expect(JSON.stringify(template.findResources('AWS::IAM::Policy'))).not.toMatch(
      /"Action":"[^"]*\*|:\*"\]?,"Effect"/,
    );
    expect(
      free.every((action: string) => action === 'dynamodb:ListStreams' || action.startsWith('logs:')),
    ).toBe(true);
  });

  it('let only a provider’s own function read its secret', () => {
    const readers = Object.values(template.findResources('AWS::IAM::Policy')).filter(({ Properties }) =>
      JSON.stringify(Properties.PolicyDocument).includes('secretsmanager:GetSecretValue'),
    );

    expect(readers.flatMap(({ Properties }) => Properties.Roles)).toEqual(
      payments === undefined ? [] : [{ Ref: roleOf(payments) }],
    );
  });
});
