import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { InvokeCommand } from '@aws-sdk/client-lambda';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { DescribeStateMachineCommand, RedriveExecutionCommand } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveEffect } from '../../lambdas/aws/effect-resolution.ts';
import { toItem } from '../../lambdas/aws/items.ts';
import { DECISIONS } from '../../lambdas/core/decision.ts';
import { aggregateKey } from '../../lambdas/core/table.ts';
import { messages } from '../../lambdas/messages/index.ts';
import { providers } from '../../lambdas/providers/index.ts';
import type { DeploymentPlace } from '../../local/deployment.ts';
import { localNames } from '../../local/names.ts';
import { type LocalProviders, startProviders } from '../../local/providers/start-providers.ts';
import { bundledFunction } from '../helpers/deployed-function.ts';
import { resolveWorker, type SynthesisedWorker, synthesiseWorker } from '../helpers/deployed-template.ts';
import { type DeployedWorker, startDeployed } from '../helpers/deployed-worker.ts';
import { emittedMetrics } from '../helpers/emf.ts';
import { deadlineEnvelope, stageEnvelope } from '../helpers/envelopes.ts';
import { removeFolder } from '../helpers/folders.ts';
import { receiveAll } from '../helpers/queue.ts';
import { abort, cases, SWEEP } from '../helpers/reconciler.ts';
import { entryOf } from '../helpers/worker-template.ts';

const WORKER_NAME = 'stepwell';
let servers: LocalProviders;
let synthesised: SynthesisedWorker;
let worker: DeployedWorker;

beforeAll(async () => {
  servers = await startProviders();
  const { PAYMENTS_URL = '', NOTICES_URL = '' } = servers.env;
  synthesised = synthesiseWorker({
    workerName: WORKER_NAME,
    messages,
    messagesEntry: entryOf('messages'),
    sourcesEntry: entryOf('sources'),
    providers,
    providersEntry: entryOf('providers'),
    providerSettings: {
      Payments: { environment: { PAYMENTS_URL } },
      Notices: { environment: { NOTICES_URL } },
    },
    invalidReceives: 1,
  });
  worker = await startDeployed(synthesised, { otherEndpoints: { BEDROCK_RUNTIME: servers.bedrock.url } });
});

afterAll(async () => {
  await worker.end();
  await servers.close();
  removeFolder(synthesised.folder);
});

/** Sends a message and waits for its last word in the inbox. */
async function deliver(envelope: { readonly idempotencyKey: string }, status = 'COMPLETED'): Promise<void> {
  await worker.send(envelope);
  await untilInbox(envelope.idempotencyKey, status);
}

const untilInbox = (key: string, status: string): Promise<void> =>
  worker.until(`the inbox has ${key} as ${status}`, async () => (await worker.inbox(key))?.status === status);

const untilEnded = (key: string): Promise<void> =>
  worker.until(
    `the execution of ${key} has ended`,
    async () => (await worker.execution(key)).status !== 'RUNNING',
  );

/** The stage changes of a case of its own. */
const stages = (aggregateId: string) => (version: number, stage: string) =>
  stageEnvelope(version, {
    messageId: `${aggregateId}-${version}`,
    idempotencyKey: `${aggregateId}-${version}`,
    aggregateId,
    payload: { caseId: aggregateId, stage },
  });

/** A message of a type with an effect. */
const effectEnvelope = (idempotencyKey: string, messageType: string, payload: object) => ({
  messageId: idempotencyKey,
  schemaVersion: 1,
  messageType,
  producer: 'test',
  occurredAt: '2026-01-01T00:00:00Z',
  idempotencyKey,
  aggregateType: 'thing',
  aggregateId: idempotencyKey,
  payload,
});

/** The names of the errors that an execution met, in order. */
async function errorsOf(key: string): Promise<readonly string[]> {
  const { arn } = await worker.execution(key);
  return (worker.stepFunctions.history(arn) ?? []).flatMap(({ type, details }) =>
    type.endsWith('Failed') && details?.error !== undefined ? [String(details.error)] : [],
  );
}

async function invoke(functionName: string, event: object) {
  const { FunctionError, Payload = new Uint8Array() } = await worker.clients.lambda.send(
    new InvokeCommand({ FunctionName: functionName, Payload: JSON.stringify(event) }),
  );
  return { failed: FunctionError !== undefined, answer: JSON.parse(Buffer.from(Payload).toString()) };
}

describe('the deployed worker', () => {
  it('runs the definition of the template', async () => {
    const { stateMachineArn } = worker.names;
    const { definition = '' } = await worker.clients.sfn.send(
      new DescribeStateMachineCommand({ stateMachineArn }),
    );
    const machine = Object.values(synthesised.template.Resources).find(
      ({ Type }) => Type === 'AWS::StepFunctions::StateMachine',
    );
    const pieces = String(machine?.Properties.DefinitionString).split(/\$\{\w+\}/);

    expect(pieces.length).toBeGreaterThan(5);
    let from = 0;
    for (const piece of pieces) {
      from = definition.indexOf(piece, from);
      expect(from).toBeGreaterThanOrEqual(0);
    }
    expect(definition).not.toMatch(/\$\{/);
    expect(definition).toContain('arn:aws:lambda:us-east-1:000000000000:function:plan');
  });

  it('commits a message in two states', async () => {
    const envelope = deadlineEnvelope({ aggregateId: 'C-1', idempotencyKey: 'C-1' });
    await deliver(envelope);
    await untilEnded('C-1');

    expect(await worker.execution('C-1')).toMatchObject({ status: 'SUCCEEDED', states: ['Plan', 'Commit'] });
    expect(await worker.aggregate('case', 'C-1')).toMatchObject({ deadlineStage: 'INVESTIGATION' });
  });

  it('acknowledges a duplicate and does nothing', async () => {
    const envelope = deadlineEnvelope({ aggregateId: 'C-2', idempotencyKey: 'C-2' });
    await deliver(envelope);
    await worker.untilIdle();
    const before = { row: await worker.aggregate('case', 'C-2'), executions: await worker.executions() };

    await worker.send(envelope);
    await worker.untilIdle();

    expect(await worker.aggregate('case', 'C-2')).toEqual(before.row);
    expect(await worker.executions()).toBe(before.executions);
  });

  it('fails an execution under the code of its handler’s failure', async () => {
    const payload = {
      caseId: 'C-3',
      stage: 'NOWHERE',
      effectiveAt: '2026-01-01T10:15:00Z',
      calendarDays: true,
    };
    await deliver(
      deadlineEnvelope({ aggregateId: 'C-3', idempotencyKey: 'C-3', payload }),
      'FAILED_TERMINAL',
    );
    await untilEnded('C-3');

    expect(await worker.execution('C-3')).toMatchObject({
      status: 'FAILED',
      error: 'STAGE_UNKNOWN',
      states: [
        'Plan',
        'Commit',
        'RecordFailure',
        'AttemptsLeft',
        'Quarantine',
        'AnnounceQuarantine',
        'ReportFailure',
      ],
    });
    expect(await errorsOf('C-3')).toEqual(['TerminalFailure', 'STAGE_UNKNOWN', 'STAGE_UNKNOWN']);
  });

  it.each([
    ['Payments', 'PaymentCaptureRequested', { paymentId: 'P-1', amount: 1200, currency: 'EUR' }],
    ['Notices', 'NoticeDeliveryRequested', { caseId: 'C-1', recipient: 'owner', template: 'hello' }],
    ['Model', 'AnswerGenerationRequested', { userId: 'U-1', prompt: 'When?', contextVersion: 1 }],
  ])('carries an effect out at %s', async (provider, messageType, payload) => {
    const idempotencyKey = `effect-${provider}`;
    const { payments, notices, bedrock } = servers;
    const calls = () => payments.ledger.length + notices.ledger.length + bedrock.ledger.length;
    const before = calls();
    await worker.send(effectEnvelope(idempotencyKey, messageType, payload));
    await worker.until(`${provider} was called`, async () => calls() > before);
    await worker.until(
      'the aggregate is there',
      async () => (await worker.aggregate('thing', idempotencyKey)) !== undefined,
    );
    await worker.untilIdle();

    expect(calls()).toBe(before + 1);
  });

  it('lets the error of a decision name the way', async () => {
    const payload = { paymentId: 'P-2', amount: 1, currency: 'EUR' };
    await deliver(effectEnvelope('P-2', 'PaymentCaptureRequested', payload));

    expect(await errorsOf('P-2')).toEqual(['EffectsRequired']);
  });

  it('keeps an effect in doubt until a person has said what happened', async () => {
    servers.notices.fail({ when: 'after', how: 'cut' });
    const payload = { caseId: 'C-8', recipient: 'owner', template: 'hello' };
    await worker.send(effectEnvelope('doubtful', 'NoticeDeliveryRequested', payload));
    await worker.untilIn('doubtful', 'AwaitResolution');
    expect(await errorsOf('doubtful')).toEqual(['EffectsRequired', 'EffectInDoubt']);

    const { dynamodb, sfn } = worker.clients;
    await resolveEffect(
      'doubtful#deliver',
      { verdict: 'completed', reference: 'found' },
      { dynamodb, sfn, tableName: worker.names.tableName, at: '2026-01-01T00:00:00Z' },
    );
    await untilInbox('doubtful', 'COMPLETED');

    expect(await worker.aggregate('thing', 'doubtful')).toMatchObject({ noticeReference: 'found' });
  });

  it.each(DECISIONS.filter((name) => name !== 'Commit'))('throws %s under its name', async (decision) => {
    const execution = { Id: 'id', Name: 'name', StartTime: '2026-01-01T00:00:00Z' };
    const { failed, answer } = await invoke('commit', { decision: { decision }, execution });

    expect({ failed, errorType: answer.errorType }).toEqual({ failed: true, errorType: decision });
  });

  it('parks a message that came too soon, and wakes it in its turn', async () => {
    const stage = stages('C-4');
    await worker.send(stage(2, 'REVIEW'));
    await worker.untilIn('C-4-2', 'Park');
    await deliver(stage(1, 'INVESTIGATION'));
    await untilInbox('C-4-2', 'COMPLETED');

    expect(await worker.aggregate('case', 'C-4')).toMatchObject({
      stage: 'REVIEW',
      'version#CaseStageChanged': 2,
    });
    expect(await errorsOf('C-4-2')).toEqual(['OutOfOrder']);
  });

  it('moves a message that it cannot read to the dead-letter queue, with the reason', async () => {
    await worker.send({ messageType: 'Nothing' });
    await worker.until('a dead letter is there', async () => (await worker.depth(worker.names.dlqUrl)) > 0);
    await worker.untilIdle();

    const letters = await receiveAll(worker, worker.names.dlqUrl);
    expect(letters.map(({ attributes }) => attributes.FailureCode)).toEqual(['INVALID_ENVELOPE']);
  });

  it('keeps a large payload in the bucket and out of the history', async () => {
    const padding = 'x'.repeat(210_000);
    const { payload, ...rest } = deadlineEnvelope({ aggregateId: 'C-5', idempotencyKey: 'C-5' });
    const envelope = { ...rest, payload: { ...payload, padding } };
    await deliver(envelope);

    const { arn } = await worker.execution('C-5');
    const [started] = worker.stepFunctions.history(arn) ?? [];
    const input = String(started?.details?.input);
    expect(input.length).toBeLessThan(10_000);
    const { bucket, key } = JSON.parse(input).envelope.payloadRef;
    const { Body } = await worker.clients.s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    expect(await Body?.transformToString()).toContain(padding);
    expect(await worker.aggregate('case', 'C-5')).toMatchObject({ deadlineStage: 'INVESTIGATION' });
  });

  it('replays a failed execution that is redriven', async () => {
    const stage = stages('C-6');
    await deliver(stage(1, 'CLOSED'));
    await deliver(stage(2, 'REVIEW'), 'FAILED_TERMINAL');
    await untilEnded('C-6-2');
    expect((await worker.execution('C-6-2')).error).toBe('CASE_CLOSED');

    await worker.clients.dynamodb.send(
      new UpdateItemCommand({
        TableName: worker.names.tableName,
        Key: toItem({ ...aggregateKey('case', 'C-6') }),
        UpdateExpression: 'SET stage = :stage',
        ExpressionAttributeValues: { ':stage': { S: 'DECISION' } },
      }),
    );
    const { arn } = await worker.execution('C-6-2');
    await worker.clients.sfn.send(new RedriveExecutionCommand({ executionArn: arn }));
    await untilInbox('C-6-2', 'COMPLETED');
    await untilEnded('C-6-2');

    expect(await worker.execution('C-6-2')).toMatchObject({ status: 'SUCCEEDED' });
    expect(await worker.aggregate('case', 'C-6')).toMatchObject({ stage: 'REVIEW' });
  });

  it('gives the work of an aborted execution an end', async () => {
    await worker.send(stages('C-7')(2, 'REVIEW'));
    await worker.untilIn('C-7-2', 'Park');
    await abort(worker, 'C-7-2');
    await untilInbox('C-7-2', 'FAILED_TERMINAL');

    expect(await worker.inbox('C-7-2')).toMatchObject({ failureCode: 'EXECUTION_ABORTED' });
    expect(await cases(worker)).toContainEqual(
      expect.objectContaining({ code: 'EXECUTION_ABORTED', idempotencyKey: 'C-7-2' }),
    );
  });

  it('sweeps', async () => {
    expect(await invoke('reconciler', SWEEP)).toEqual({ failed: false, answer: null });
  });
});

describe('what the functions write', () => {
  it('are metrics and log lines in JSON, under the names that the template gives', async () => {
    const own = await startDeployed(synthesised);
    const envelope = deadlineEnvelope();
    await own.send(envelope);
    await own.untilIdle();
    await own.send(envelope);
    await own.untilIdle();
    const stage = stages('C-9');
    await own.send(stage(2, 'REVIEW'));
    await own.untilIn('C-9-2', 'Park');
    await own.send(stage(1, 'INTAKE'));
    await own.send(stages('C-10')(1, 'NO_STAGE'));
    await own.untilIdle();
    await own.clients.lambda.send(
      new InvokeCommand({ FunctionName: 'reconciler', Payload: JSON.stringify(SWEEP) }),
    );

    const metrics = emittedMetrics(await own.end());
    const service = { service: WORKER_NAME };
    for (const [name, unit, dimensions] of [
      ['MessagesStarted', 'Count', service],
      ['DuplicatesDropped', 'Count', { ...service, kind: 'DUPLICATE_COMPLETED' }],
      ['ReceiveCount', 'Count', service],
      ['MessagesCompleted', 'Count', service],
      ['CommitLatency', 'Milliseconds', service],
      // Of each function that gathers some: what it does not write at its end is lost.
      ['Parked', 'Count', service],
      ['Quarantined', 'Count', service],
      ['OpenCases', 'Count', service],
    ] as const) {
      expect(metrics).toContainEqual(
        expect.objectContaining({ name, unit, namespace: 'Stepwell', dimensions }),
      );
    }
  });
});

describe('a function without a variable that its template should give it', () => {
  const place: DeploymentPlace = {
    names: localNames(WORKER_NAME, false),
    endpoint: 'http://127.0.0.1:1',
    eventSourceId: 'mapping',
  };

  it.each([
    ['starter', 'STATE_MACHINE_ARN'],
    ['plan', 'MANIFEST_DIGEST'],
    ['commit', 'INBOX_TTL_SECONDS'],
    ['report-failure', 'WORKER_NAME'],
    ['waker', 'TABLE_NAME'],
    ['reconciler', 'QUARANTINE_QUEUE_URL'],
    ['run-effect-Payments', 'PAYMENTS_URL'],
  ])('%s fails and names %s', async (name, variable) => {
    const bundle = resolveWorker(synthesised, place).bundles.find((candidate) => candidate.name === name);
    if (bundle === undefined) throw new Error(`The template has no function ${name}`);
    const { [variable]: value, ...environment } = bundle.environment;
    expect(value).toBeDefined();
    const lacking = bundledFunction({ ...bundle, environment });

    await expect(lacking.invoke({})).rejects.toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining(variable),
    });
    await lacking.stop();
  });
});
