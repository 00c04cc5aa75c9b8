import { existsSync, readFileSync } from 'node:fs';
import { Duration } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import type { Checklist } from '../../cli/doctor/checklists.ts';
import { main } from '../../cli/main.ts';
import { defineProvider } from '../../lambdas/core/provider.ts';
import { WorkerStack } from '../../lib/worker-stack.ts';
import { type DeployedStack, deploy } from '../helpers/deployed-stack.ts';
import { MESSAGES_ENTRY, quickApp, workerProps } from '../helpers/worker-template.ts';
import { testIo } from '../unit/cli/cli-io.ts';

/** A worker with a provider and a batching window, so that every check has something to look at. */
const TEMPLATE = Template.fromStack(
  new WorkerStack(quickApp(), 'Deployed', {
    worker: workerProps({
      workerName: 'orders',
      providers: [defineProvider({ name: 'Payments', operations: {} })],
      providersEntry: MESSAGES_ENTRY,
      maxBatchingWindow: Duration.seconds(1),
    }),
  }),
).toJSON();

async function examine(stack: DeployedStack) {
  const io = testIo();
  const exitCode = await main(['doctor', '--stack', stack.name, '--json'], io);
  const lists: readonly Checklist[] = JSON.parse(io.lines[0] ?? '[]');
  const lines = lists.flatMap(({ list, lines }) => lines.map((line) => ({ list, ...line })));
  const checks = (result: string) => [
    ...new Set(
      lines.flatMap((line) => line.checks.flatMap((check) => (check.result === result ? [check.line] : []))),
    ),
  ];
  return { exitCode, lists, lines, checks, notes: io.notes };
}

const QUEUE = 'AWS::SQS::Queue';
const POLICY = 'AWS::SQS::QueuePolicy';
const TABLE = 'AWS::DynamoDB::Table';
const FUNCTION = 'AWS::Lambda::Function';
const SOURCE = 'AWS::Lambda::EventSourceMapping';
const MACHINE = 'AWS::StepFunctions::StateMachine';
const BUCKET = 'AWS::S3::Bucket';
const ALARM = 'AWS::CloudWatch::Alarm';
const DASHBOARD = 'AWS::CloudWatch::Dashboard';

type Defect = (stack: DeployedStack) => void;
const set =
  (type: string, part: string, change: Readonly<Record<string, unknown>>): Defect =>
  (stack) => {
    Object.assign(stack.properties(type, part), change);
  };
const variable =
  (part: string, name: string, value: string | undefined): Defect =>
  (stack) => {
    stack.properties(FUNCTION, part).Environment.Variables[name] = value;
  };
/** An alarm that notifies nobody. */
const mute = (part: string): Defect => set(ALARM, part, { AlarmActions: [] });
const hidden =
  (word: string): Defect =>
  (stack) => {
    const dashboard = stack.properties(DASHBOARD, 'Dashboard');
    dashboard.DashboardBody = JSON.parse(JSON.stringify(dashboard.DashboardBody).replaceAll(word, 'x'));
  };
const answered =
  (operation: string, answer: unknown): Defect =>
  (stack) => {
    stack.answers[operation] = answer;
  };

/** A function of somebody else that reads what an event source of the worker reads. */
const readBy =
  (part: string): Defect =>
  (stack) => {
    const { EventSourceArn } = stack.properties(SOURCE, part);
    stack.add('OtherSource', SOURCE, { EventSourceArn, FunctionName: 'Other' });
  };

/** For every check: what makes it fail, and it alone. */
const DEFECTS: readonly (readonly [check: string, defect: Defect])[] = [
  [
    "The queue's redrive policy names",
    set(QUEUE, 'QueueMessages', {
      RedrivePolicy: { deadLetterTargetArn: 'arn:other', maxReceiveCount: 100 },
    }),
  ],
  [
    'maxReceiveCount is at least',
    (stack) => {
      stack.properties(QUEUE, 'QueueMessages').RedrivePolicy.maxReceiveCount = 4;
    },
  ],
  ['It is above the receive on which', variable('WorkerStarter', 'INVALID_RECEIVES', '100')],
  [
    'The dead-letter queue keeps messages longer',
    set(QUEUE, 'QueueDeadLetters', { MessageRetentionPeriod: 604_800 }),
  ],
  [
    'The dead-letter queue takes messages of the queue',
    set(QUEUE, 'QueueDeadLetters', {
      RedriveAllowPolicy: { redrivePermission: 'byQueue', sourceQueueArns: ['arn:other'] },
    }),
  ],
  ["The dead-letter queue is of the queue's kind", set(QUEUE, 'QueueDeadLetters', { FifoQueue: true })],
  ['The visibility time-out is at least', set(QUEUE, 'QueueMessages', { VisibilityTimeout: 180 })],
  ['The queue is encrypted', set(QUEUE, 'QueueMessages', { SqsManagedSseEnabled: false })],
  ['The dead-letter queue is encrypted', set(QUEUE, 'QueueDeadLetters', { SqsManagedSseEnabled: false })],
  ['The quarantine queue is encrypted', set(QUEUE, 'Quarantine', { SqsManagedSseEnabled: false })],
  ["The stream's failure queue is encrypted", set(QUEUE, 'StreamFailures', { SqsManagedSseEnabled: false })],
  [
    'The queue refuses what comes without TLS',
    set(POLICY, 'QueueMessages', { PolicyDocument: { Statement: [] } }),
  ],
  [
    'The dead-letter queue refuses',
    set(POLICY, 'QueueDeadLetters', { PolicyDocument: { Statement: { Effect: 'Allow' } } }),
  ],
  ['The quarantine queue refuses', set(POLICY, 'Quarantine', { Queues: [] })],
  ["The stream's failure queue refuses", set(POLICY, 'StreamFailures', { Queues: [] })],

  ['The event source of the queue is enabled', set(SOURCE, 'WorkerMessages', { Enabled: false })],
  ['The queue is read by the starter', set(SOURCE, 'WorkerMessages', { FunctionName: 'Other' })],
  ['Nothing else reads the queue', readBy('WorkerMessages')],
  ["Nothing else reads the table's stream", readBy('WorkerChanges')],
  [
    'Partial batch responses are on for the queue',
    set(SOURCE, 'WorkerMessages', { FunctionResponseTypes: [] }),
  ],
  [
    "Partial batch responses are on for the table's stream",
    set(SOURCE, 'WorkerChanges', { FunctionResponseTypes: undefined }),
  ],
  [
    'A batch over 10 has a window',
    set(SOURCE, 'WorkerMessages', { BatchSize: 100, MaximumBatchingWindowInSeconds: 0 }),
  ],
  [
    'The event source of the queue has a maximum concurrency',
    set(SOURCE, 'WorkerMessages', { ScalingConfig: undefined }),
  ],
  ["The starter's reserved concurrency", set(FUNCTION, 'WorkerStarter', { ReservedConcurrentExecutions: 5 })],
  [
    'The account has that many concurrent executions left',
    answered('GetAccountSettings', { AccountLimit: { UnreservedConcurrentExecutions: 9 } }),
  ],
  ["The event source of the table's stream is enabled", set(SOURCE, 'WorkerChanges', { Enabled: false })],
  [
    "It reads the newest stream of the worker's table",
    answered('DescribeTable', { Table: { LatestStreamArn: 'arn:newer' } }),
  ],
  ['It splits a batch that fails', set(SOURCE, 'WorkerChanges', { MaximumRetryAttempts: -1 })],
  [
    "What it gives up goes to the stream's failure queue",
    set(SOURCE, 'WorkerChanges', { DestinationConfig: undefined }),
  ],

  ['The table is there and in use', answered('DescribeTable', { Table: { TableStatus: 'ARCHIVED' } })],
  [
    'Its keys are PK and SK',
    set(TABLE, 'WorkerTable', { KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }] }),
  ],
  [
    'It has the indexes',
    (stack) => {
      stack.properties(TABLE, 'WorkerTable').GlobalSecondaryIndexes.pop();
    },
  ],
  ['It has no replica', answered('DescribeTable', { Table: { Replicas: [{ RegionName: 'eu-north-1' }] } })],
  [
    'All of its keys are texts',
    (stack) => {
      stack.properties(TABLE, 'WorkerTable').AttributeDefinitions.push({
        AttributeName: 'other',
        AttributeType: 'N',
      });
    },
  ],
  [
    'It streams old and new images',
    set(TABLE, 'WorkerTable', { StreamSpecification: { StreamViewType: 'NEW_IMAGE' } }),
  ],
  ['It is protected against deletion', set(TABLE, 'WorkerTable', { DeletionProtectionEnabled: false })],
  [
    'Old rows expire by ttl',
    set(TABLE, 'WorkerTable', { TimeToLiveSpecification: { Enabled: true, AttributeName: 'expires' } }),
  ],
  [
    'Point-in-time recovery is on',
    set(TABLE, 'WorkerTable', { PointInTimeRecoverySpecification: undefined }),
  ],

  ['Every function is active', answered('GetFunctionConfiguration', { LastUpdateStatus: 'Failed' })],
  ['Every function runs nodejs24.x on arm64', set(FUNCTION, 'WorkerPlan', { Architectures: ['x86_64'] })],
  ["Every function uses the worker's table", variable('WorkerCommit', 'TABLE_NAME', 'another')],
  ['Every function works for this worker', variable('WorkerWaker', 'WORKER_NAME', 'another')],
  ['All functions are of one release', variable('WorkerPlan', 'RELEASE', 'older')],
  [
    'No two functions share a role',
    (stack) => {
      stack.properties(FUNCTION, 'WorkerPlan').Role = stack.properties(FUNCTION, 'WorkerCommit').Role;
    },
  ],
  [
    'Every function writes to its own log group',
    set(FUNCTION, 'WorkerPlan', { LoggingConfig: { LogGroup: 'other' } }),
  ],
  [
    "Every provider's function writes the effect log",
    variable('WorkerRunEffectPayments', 'EFFECT_TTL_SECONDS', undefined),
  ],

  ['The state machine is active', set(MACHINE, 'WorkerStateMachine', { StateMachineType: 'EXPRESS' })],
  [
    "Its definition is this release's",
    (stack) => {
      const machine = stack.properties(MACHINE, 'WorkerStateMachine');
      machine.DefinitionString = machine.DefinitionString.replace('"States.Timeout"', '"States.ALL"');
    },
  ],
  ["Each function's time-out is below its task's", set(FUNCTION, 'WorkerPlan', { Timeout: 60 })],
  [
    'The state machine logs to the log group',
    (stack) => {
      stack.properties(MACHINE, 'WorkerStateMachine').LoggingConfiguration.Level = 'OFF';
    },
  ],
  [
    'Its logs hold no execution data',
    (stack) => {
      stack.properties(MACHINE, 'WorkerStateMachine').LoggingConfiguration.IncludeExecutionData = true;
    },
  ],

  [
    'The payload bucket keeps versions',
    set(BUCKET, 'Payloads', { VersioningConfiguration: { Status: 'Suspended' } }),
  ],
  [
    'Nothing in it can be made public',
    set(BUCKET, 'Payloads', { PublicAccessBlockConfiguration: { BlockPublicAcls: true } }),
  ],
  [
    'Its objects expire',
    set(BUCKET, 'Payloads', {
      LifecycleConfiguration: { Rules: [{ Status: 'Disabled', ExpirationInDays: 1 }] },
    }),
  ],

  ['An alarm tells of messages in the dead-letter queue', mute('DeadLetters')],
  ['That alarm says where the runbook is', set(ALARM, 'DeadLetters', { AlarmDescription: 'look' })],
  [
    'An alarm tells of a changed payload under a known key',
    set(ALARM, 'HashMismatches', { ActionsEnabled: false }),
  ],
  ["An alarm tells of the starter's time nearing its time-out", mute('StarterSlow')],
  ['An alarm tells of an old message', mute('OldestMessage')],
  ['An alarm tells of messages that pile up in the queue', mute('Backlog')],
  ['An alarm tells of a case in the quarantine', set(ALARM, 'QuarantineOpen', { Dimensions: [] })],
  ['An alarm tells of changes of the table that were given up', mute('StreamFailures')],
  ['An alarm tells of executions that failed', mute('ExecutionsFailed')],
  ['An alarm tells of executions that were stopped', mute('ExecutionsAborted')],
  ['An alarm tells of executions that timed out', mute('ExecutionsTimedOut')],
  ['An alarm tells of errors of the function starter', mute('StarterErrors')],
  ['An alarm tells of errors of the function plan', mute('PlanErrors')],
  ['An alarm tells of errors of the function waker', mute('WakerErrors')],
  ['An alarm tells of errors of the function reconciler', mute('ReconcilerErrors')],
  ['An alarm tells of errors of the function commit', mute('CommitErrors')],
  ['An alarm tells of errors of the function report-failure', mute('ReportFailureErrors')],
  ["An alarm tells of errors of each provider's function", mute('RunEffectPaymentsErrors')],
  ["An alarm tells of each provider's effects in doubt", mute('InDoubtPayments')],
  ['The dashboard shows the queue', hidden('ApproximateAgeOfOldestMessage')],
  ['The dashboard shows the dead-letter queue', hidden('WorkerQueueDeadLetters')],
  ['The dashboard shows the worker', hidden('MessagesCompleted')],
  ['The dashboard shows the database', hidden('CommitLatency')],
  ['The dashboard shows idempotency', hidden('DuplicatesDropped')],
];

/** The lines of both documents, in their order. */
const DESIGN = 15;
const PRODUCTION = 6;

describe('stepwell doctor', () => {
  it('goes through every line, and passes a stack as it is deployed', async () => {
    const { exitCode, lists, lines, checks } = await examine(await deploy(TEMPLATE));

    expect(exitCode).toBe(0);
    expect(lists.map(({ list, lines }) => [list, lines.length])).toEqual([
      ['worker design', DESIGN],
      ['production deployment', PRODUCTION],
      ['resources', 9],
    ]);
    expect(checks('fail')).toEqual([]);
    expect(checks('unknown')).toEqual([]);
    for (const { checks, result, shown } of lines) {
      expect(result).toBe(checks.length > 0 ? 'pass' : 'unknown');
      if (checks.length === 0) expect(shown).toMatch(/\w/);
    }
  });

  it.each(DEFECTS)('fails "%s" and nothing else when it does not hold', async (check, defect) => {
    const stack = await deploy(TEMPLATE);
    defect(stack);

    const { exitCode, lines, checks } = await examine(stack);

    expect(exitCode).toBe(1);
    expect(checks('fail')).toEqual([expect.stringContaining(check)]);
    const failed = lines.filter(({ result }) => result === 'fail');
    expect(failed.length).toBeGreaterThan(0);
  });

  it('has a defect here for every check', async () => {
    const { checks } = await examine(await deploy(TEMPLATE));

    const untried = checks('pass').filter((line) => !DEFECTS.some(([check]) => line.startsWith(check)));
    expect(untried).toEqual([]);
  });

  it('names tests that are there where a line is shown by tests', async () => {
    const { lines } = await examine(await deploy(TEMPLATE));

    const named = lines.flatMap(({ shown = '' }) => shown.match(/test\/[\w./-]+\.test\.ts/g) ?? []);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });

  it('has every line and every check in the documentation, in this order', async () => {
    const { lists } = await examine(await deploy(TEMPLATE));
    const page = readFileSync('docs/command-line.md', 'utf8');

    const tables = lists.map(({ list, lines }) => {
      const rows = lines.map(({ number, line, checks }) => {
        const checked = checks.map((check) => check.line).join(' · ');
        return `| ${number} | ${line} | ${checked === '' ? 'not checkable' : checked} |`;
      });
      return [`| ${list} | line | checked |`, '| --- | --- | --- |', ...rows].join('\n');
    });
    for (const table of tables) expect(page).toContain(table);
  });

  it('fails what is not there', async () => {
    const stack = await deploy(TEMPLATE);
    stack.failures.DescribeTable = 'ResourceNotFoundException';

    expect((await examine(stack)).checks('fail')).toContainEqual('The table is there and in use');
  });

  it('says what it may not read, and fails nothing for that', async () => {
    const stack = await deploy(TEMPLATE);
    for (const operation of [
      'DescribeAlarms',
      'GetDashboard',
      'GetAccountSettings',
      'GetPublicAccessBlock',
    ]) {
      stack.failures[operation] = 'AccessDeniedException';
    }

    const { exitCode, lines, checks } = await examine(stack);

    expect(exitCode).toBe(0);
    expect(checks('unknown')).toContain('An alarm tells of an old message');
    expect(lines.flatMap(({ checks }) => checks)).toContainEqual(
      expect.objectContaining({ detail: 'alarms may not be read with these credentials' }),
    );
  });

  it('answers 4, and not a list of riddles, when the credentials are not known', async () => {
    const stack = await deploy(TEMPLATE);
    stack.failures.GetQueueAttributes = 'InvalidClientTokenId';

    expect((await examine(stack)).exitCode).toBe(4);
  });

  it('tells of a stack that is not there', async () => {
    const stack = await deploy(TEMPLATE);

    const { exitCode, notes } = await examine({ ...stack, name: 'Another' });

    expect(exitCode).toBe(3);
    expect(notes).toEqual(['There is no stack Another in this account and Region']);
  });

  it('writes a table for people, checks below their line', async () => {
    const stack = await deploy(TEMPLATE);
    const io = testIo();

    await main(['doctor', '--stack', stack.name], io);

    expect(io.lines.join('\n')).toMatch(
      /pass +worker design 5: A changed payload under a known key raises an alert\npass +- An alarm tells of a changed payload/,
    );
  });
});
