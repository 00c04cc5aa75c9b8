import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { SFNClient } from '@aws-sdk/client-sfn';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { listShared, purge } from '../../cli/commands/cache.ts';
import { peek, redrive } from '../../cli/commands/dlq.ts';
import { listInDoubt } from '../../cli/commands/effects.ts';
import { forget } from '../../cli/commands/forget.ts';
import { ls } from '../../cli/commands/ls.ts';
import { close, list, showCase } from '../../cli/commands/quarantine.ts';
import { replay } from '../../cli/commands/replay.ts';
import { resolve } from '../../cli/commands/resolve-effect.ts';
import { send } from '../../cli/commands/send.ts';
import { show } from '../../cli/commands/show.ts';
import { smoke } from '../../cli/commands/smoke.ts';
import { main } from '../../cli/main.ts';
import { createProgram } from '../../cli/program.ts';
import type { Target } from '../../cli/target.ts';
import { TerminalFailure } from '../../lambdas/core/errors.ts';
import { defineMessage } from '../../lambdas/core/message-type.ts';
import { defineProvider } from '../../lambdas/core/provider.ts';
import { messages } from '../../lambdas/messages/index.ts';
import {
  OPERATOR_EXTRAS,
  OperatorPolicy,
  type OperatorPolicyProps,
} from '../../lib/constructs/operator-policy.ts';
import { WorkerDashboard } from '../../lib/constructs/worker-dashboard.ts';
import { WorkflowWorker } from '../../lib/constructs/workflow-worker.ts';
import { WorkerStack } from '../../lib/worker-stack.ts';
import { inProcessClientConfig } from '../../local/edge/client-config.ts';
import type { Dispatch } from '../../local/edge/http.ts';
import { createInProcessRequestHandler } from '../../local/edge/request-handler.ts';
import { deploy } from '../helpers/deployed-stack.ts';
import { deadlineEnvelope } from '../helpers/envelopes.ts';
import { seededRandom } from '../helpers/ids.ts';
import { createLedger, ledgerProvider } from '../helpers/providers.ts';
import { type Right, rightsOf } from '../helpers/rights.ts';
import { testWorker } from '../helpers/template.ts';
import { startWorker } from '../helpers/worker.ts';
import { MESSAGES_ENTRY, quickApp, workerProps } from '../helpers/worker-template.ts';
import { REPLAY_OPTIONS, testIo } from '../unit/cli/cli-io.ts';

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

function policyOf(
  props: Partial<OperatorPolicyProps> = {},
  worker: Parameters<typeof testWorker>[0] = {},
): readonly Statement[] {
  const { stack, worker: made } = testWorker({
    providers: [defineProvider({ name: 'Payments', operations: {} })],
    providersEntry: MESSAGES_ENTRY,
    ...worker,
  });
  const { dashboard } = new WorkerDashboard(stack, 'Screen', { worker: made });
  new OperatorPolicy(stack, 'Operators', { worker: made, dashboard, ...props });
  const [policy] = Object.values(Template.fromStack(stack).findResources('AWS::IAM::ManagedPolicy'));
  return policy?.Properties.PolicyDocument.Statement;
}

/** What of the worker a resource is; the first that fits. */
const PLACES: readonly (readonly [on: string, pattern: RegExp])[] = [
  ['any', /^"\*"$/],
  ['key', /"(Key|CustomerKey)/],
  ['stack', /:cloudformation:/],
  ['dashboard', /dashboard/],
  ['index', /\/index\//],
  ['executions', /:execution:/],
  ['refused', /\/payloads\/rejected\/\*/],
  ['objects', /\/payloads\/\*/],
  ['bucket', /PayloadsBucket/],
  ['dlq', /DeadLetters/],
  ['quarantine', /Quarantine/],
  ['streamFailures', /StreamFailures/],
  ['queue', /QueueMessages/],
  ['machine', /StateMachine/],
  ['function', /Function/],
  ['table', /Table/],
];
const placeOf = (resource: unknown): string =>
  PLACES.find(([, pattern]) => pattern.test(JSON.stringify(resource)))?.[0] ?? JSON.stringify(resource);

/** A statement list as `action on what`. */
const allowed = (statements: readonly Statement[]): readonly string[] => [
  ...new Set(
    statements.flatMap(({ Action, Resource }) =>
      [Action]
        .flat()
        .flatMap((action) => [Resource].flat().map((resource) => `${action} ${placeOf(resource)}`)),
    ),
  ),
];

/** Rights that no command needs, with who does. */
const BY_HAND = [
  // In the console: stop an execution that should not go on, answer a task that waits.
  'states:StopExecution executions',
  'states:SendTaskFailure machine',
];
/** Commands that work on no deployed worker. */
const LOCAL_COMMANDS = ['local', 'cost'];

const EFFECT_KEY = 'case:CASE-123:deadline:v4';

/** Calls that the commands made, each command by its name. */
const calls = new Map<string, Right[]>();
const needed = (without: readonly string[] = []): ReadonlySet<string> =>
  new Set(
    [...calls].flatMap(([command, rights]) =>
      without.includes(command) ? [] : rights.map(({ action, on }) => `${action} ${on}`),
    ),
  );

/** A worker in virtual time whose commands go through a recorder of their own. */
async function operated(options: Parameters<typeof startWorker>[0] = {}) {
  let services: Dispatch | undefined;
  let command = '';
  const requestHandler = createInProcessRequestHandler(async (request) => {
    const rights = calls.get(command) ?? [];
    rights.push(...rightsOf(request));
    calls.set(command, rights);
    if (services === undefined) throw new Error('the services are not there yet');
    return services(request);
  });
  const worker = await startWorker({
    ...options,
    wrapServices: (dispatch) => {
      services = dispatch;
      return dispatch;
    },
    busy: () => requestHandler.inFlight(),
  });
  const config = inProcessClientConfig({ requestHandler, clock: worker.clock, random: seededRandom(1) });
  const target: Target = {
    names: worker.names,
    clients: {
      dynamodb: new DynamoDBClient(config),
      lambda: new LambdaClient(config),
      s3: new S3Client({ ...config, forcePathStyle: true }),
      sfn: new SFNClient(config),
      sqs: new SQSClient({ ...config, useQueueUrlAsEndpoint: false }),
    },
    consoleLink: () => undefined,
  };
  const io = testIo({ clock: worker.clock });
  /** Runs a command to its end, and notes its calls under its name. */
  async function run<T>(name: string, work: () => Promise<T>): Promise<T> {
    command = name;
    let done = false;
    const running = work().finally(() => {
      done = true;
    });
    running.catch(() => {});
    await worker.until(() => done);
    return running;
  }
  return { worker, target, io, run };
}

async function failures() {
  const failing = defineMessage({
    type: 'CaseDeadlineCalculationRequested',
    schemas: { 2: v.looseObject({}) },
    ordering: 'latest',
    plan() {
      throw new TerminalFailure('BROKEN');
    },
  });
  const { worker, target, io, run } = await operated({ messages: [failing] });
  writeFileSync(join(io.cwd, 'm.json'), JSON.stringify(deadlineEnvelope()));
  await run('send', () => send('m.json', { raw: false, json: true }, target, io));
  await worker.send('{bad');
  await worker.untilIdle();
  await run('ls', () => ls({ since: '24h', json: true }, target, io));
  await run('show', () => show(EFFECT_KEY, true, target, io));
  await run('quarantine', async () => {
    await list({ since: '24h', closed: true, json: true }, target, io);
    const [found] = JSON.parse(io.lines.at(-1) ?? '');
    await showCase(found.id, target, io);
    return close(found.id, { reason: 'seen', by: 'me' }, target, io);
  });
  await run('dlq', () => peek(10, true, target, io));
  await run('dlq', () => redrive({ sample: 1, json: true }, target, io));
  await worker.untilIdle();
  await run('dlq', () => redrive({ json: true }, target, io));
  await worker.untilIdle();
  for (const options of [{ code: 'BROKEN' }, { aggregate: 'case/CASE-123' }]) {
    await run('replay', () => replay(undefined, { ...REPLAY_OPTIONS, ...options }, target, io));
  }
  await run('replay', () => replay(EFFECT_KEY, { ...REPLAY_OPTIONS, newDefinition: true }, target, io));
  const late = worker.clock.now() + 91 * 86_400_000;
  void worker.clock.sleep(91 * 86_400_000);
  await worker.until(() => worker.clock.now() >= late);
  // The executions are forgotten by now: the case knows the input.
  await run('replay', () => replay(EFFECT_KEY, REPLAY_OPTIONS, target, io));
}

async function effects() {
  const asking = defineMessage({
    type: 'CaseDeadlineCalculationRequested',
    schemas: { 2: v.looseObject({}) },
    ordering: 'none',
    plan: ({ payload }) => ({
      effects: [
        {
          name: 'charge',
          provider: payload.shared === true ? 'Model' : 'Bank',
          operation: 'charge',
          request: { amount: 10 },
          ...(payload.shared === true ? { cache: { key: 'question-1', ttlSeconds: 3600 } } : {}),
        },
      ],
    }),
  });
  const { worker, target, io, run } = await operated({
    messages: [asking],
    providers: [
      ledgerProvider('Bank', 'neither', createLedger(['lostAfter', 'lostAfter', 'lostAfter'])),
      ledgerProvider('Model', 'harmless', createLedger()),
    ],
  });
  const keys = ['k1', 'k2', 'k3'];
  for (const idempotencyKey of keys) await worker.send(deadlineEnvelope({ idempotencyKey }));
  await worker.send(deadlineEnvelope({ idempotencyKey: 'shared', payload: { shared: true } }));
  const isInDoubt = async (key: string) =>
    (await worker.row({ PK: `EFFECT#${key}#charge`, SK: 'LOG' }))?.status === 'IN_DOUBT';
  await worker.until(async () => (await Promise.all(keys.map(isInDoubt))).every((doubt) => doubt));
  await run('effects', () => listInDoubt({ since: '24h', json: true }, target, io));
  const verdicts = [{ completed: true, reference: 'r' }, { notDone: true }, { failed: 'NO' }];
  for (const [index, verdict] of verdicts.entries()) {
    await run('effects', () => resolve(`k${index + 1}#charge`, { ...verdict, json: true }, target, io));
  }
  await run('cache', async () => {
    await listShared({ max: 100, json: true }, target, io);
    return purge('question-1', true, target, io);
  });
  await worker.untilIdle();
}

async function forgetting() {
  const sealed = defineMessage({
    type: 'CaseDeadlineCalculationRequested',
    schemas: { 2: v.looseObject({}) },
    ordering: 'latest',
    data: 'reference',
    plan: () => ({ set: { seen: true } }),
  });
  const { worker, target, io, run } = await operated({ messages: [sealed], invalidMessages: 'quarantine' });
  const letter = JSON.stringify(deadlineEnvelope());
  await worker.send(deadlineEnvelope());
  // Refused, and too large for its case's row.
  await worker.send(deadlineEnvelope({ extra: 'x'.repeat(320 * 1024) }));
  await worker.untilIdle();
  // What is another's goes back at once.
  for (const QueueUrl of [target.names.dlqUrl, target.names.quarantineQueueUrl]) {
    await worker.clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'of another' }));
    await worker.clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: letter }));
  }
  const options = { yes: true, keepAggregate: false, json: true };
  await run('forget', () => forget('case/CASE-123', options, target, io));
  expect(JSON.parse(io.lines[0] ?? '')).toMatchObject({ tombstones: 1, objects: expect.any(Number) });
}

async function examining() {
  const template = Template.fromStack(
    new WorkerStack(quickApp(), 'Deployed', {
      worker: workerProps({
        providers: [defineProvider({ name: 'Payments', operations: {} })],
        providersEntry: MESSAGES_ENTRY,
      }),
    }),
  ).toJSON();
  const rights: Right[] = [];
  const stack = await deploy(template, (request) => rights.push(...rightsOf(request)));
  const io = testIo();
  await main(['doctor', '--stack', stack.name, '--json'], io);
  calls.set('doctor', rights);
}

describe('OperatorPolicy', () => {
  it('allows what the commands call on what they call it, and nothing else', async () => {
    await failures();
    await effects();
    await forgetting();
    await examining();
    const { target, io, run } = await operated({ messages });
    await run('smoke', () => smoke({ effects: false, wait: 300, json: true }, target, io));

    expect([...calls.keys(), ...LOCAL_COMMANDS].sort()).toEqual(
      createProgram(io, async () => {})
        .commands.map((command) => command.name())
        .sort(),
    );
    const everyday = allowed(policyOf()).filter((right) => !BY_HAND.includes(right));
    expect([...everyday].sort()).toEqual([...needed(['forget'])].sort());
    const all = allowed(policyOf({ allow: OPERATOR_EXTRAS })).filter((right) => !BY_HAND.includes(right));
    expect([...all].sort()).toEqual([...needed()].sort());
    writesOnlyItsRows();
  });

  /** The rows that everyday commands write are those that the policy names, and each of these is written. */
  function writesOnlyItsRows() {
    const patterns = policyOf()
      .map(({ Condition }) => Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'])
      .filter((keys) => keys !== undefined)
      .flat();
    const rows = [...calls].flatMap(([command, rights]) =>
      command === 'forget' ? [] : rights.flatMap(({ row }) => (row === undefined ? [] : [row])),
    );
    expect([...new Set(rows.map((row) => `${row.split('#')[0]}#*`))].sort()).toEqual(patterns.sort());
  }

  it('has no action with a wildcard, and every resource only where the service binds a call to none', () => {
    for (const { Action, Resource } of policyOf({ allow: OPERATOR_EXTRAS })) {
      const actions = [Action].flat();
      expect(actions.filter((action) => action.includes('*'))).toEqual([]);
      if (Resource === '*') {
        expect(actions).toEqual([
          'cloudwatch:DescribeAlarms',
          'lambda:GetAccountSettings',
          'lambda:ListEventSourceMappings',
        ]);
      }
    }
  });

  it('lets nobody write a row of the domain without forget', () => {
    const writing = policyOf().filter(({ Action }) =>
      /dynamodb:(Put|Update|Delete)/.test([Action].flat().join()),
    );

    expect(writing).toHaveLength(1);
    expect(writing[0]?.Condition).toEqual({
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['EFFECT#*', 'QUARANTINE#*'] },
      Null: { 'dynamodb:LeadingKeys': 'false' },
    });
  });

  it('lets operators use the customer key where there is one, and no key elsewhere', () => {
    const ofKeys = (statements: readonly Statement[]) =>
      allowed(statements).filter((right) => right.startsWith('kms:'));
    const { stack, worker } = keyedWorker();
    new OperatorPolicy(stack, 'Operators', { worker });
    const [policy] = Object.values(Template.fromStack(stack).findResources('AWS::IAM::ManagedPolicy'));

    expect(ofKeys(policyOf())).toEqual([]);
    expect(ofKeys(policy?.Properties.PolicyDocument.Statement)).toEqual([
      'kms:Decrypt key',
      'kms:DescribeKey key',
      'kms:Encrypt key',
      'kms:GenerateDataKey key',
    ]);
  });
});

function keyedWorker() {
  const stack = new Stack(quickApp(), 'Test');
  const encryptionKey = new Key(stack, 'CustomerKey');
  return { stack, worker: new WorkflowWorker(stack, 'Worker', workerProps({ encryptionKey })) };
}
