import { DescribeStateMachineCommand } from '@aws-sdk/client-sfn';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { RetryableFailure, TerminalFailure } from '../../lambdas/core/errors.ts';
import type { AnyMessageDefinition } from '../../lambdas/core/message-type.ts';
import type { FaultInjector } from '../../local/edge/faults.ts';
import { renderDefinition } from '../../statemachines/definition.ts';
import { matchedErrors, taskStates } from '../helpers/definition.ts';
import { expectInvariants } from '../helpers/invariants.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { receiveAll } from '../helpers/queue.ts';
import { abort, untilIn } from '../helpers/reconciler.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

const KEY = 'probe:1';
const applies = probe(({ payload }) => ({ set: { value: Number(payload.value) } }));
const throwing = (make: () => unknown, settings: Parameters<typeof probe>[1] = {}) =>
  probe(() => {
    throw make();
  }, settings);

/** An error as Step Functions would see it of a function that could not be run. */
const named = (name: string): Error => Object.assign(new Error(name), { name });

/** Lets a function's first calls fail with an error of that name. */
const failing = (caller: string, name: string, times = Number.POSITIVE_INFINITY): FaultInjector => {
  let left = times;
  return (call) => {
    if (call.caller !== caller || left <= 0) return 'none';
    left -= 1;
    throw named(name);
  };
};

interface Run {
  readonly definition?: AnyMessageDefinition;
  readonly envelope?: Record<string, unknown>;
  readonly faults?: FaultInjector | ((worker: () => TestWorker) => FaultInjector);
}

async function runOne(
  { definition = applies, envelope = {} }: Run,
  faults?: FaultInjector,
): Promise<TestWorker> {
  const worker = await startWorker({
    messages: [definition],
    ...(faults === undefined ? {} : { faults }),
  });
  await worker.send(probeEnvelope(envelope));
  await worker.untilIdle();
  return worker;
}

const errors = (state: string, kind: 'Retry' | 'Catch') => {
  const found = taskStates(renderDefinition()).find(({ name }) => name === state);
  return found === undefined ? [] : matchedErrors(found.state, kind);
};
const infrastructure = (state: string) =>
  errors(state, 'Retry').filter((name) => /^(Lambda|Runtime|Sandbox)\./.test(name));

describe('infrastructure failures', () => {
  it.each([
    ...infrastructure('Plan').map((name) => ['plan', name]),
    ...infrastructure('Commit').map((name) => ['commit', name]),
  ])('of %s, %s: retried in place, no business attempt', async (caller, name) => {
    const worker = await runOne({}, failing(caller, name, 3));

    const { states, status } = await worker.execution(KEY);
    expect(status).toBe('SUCCEEDED');
    expect(states).toEqual(['Plan', 'Commit']);
    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED', attempts: 1 });
  });

  it.each(['plan', 'commit'])('of %s that last: business attempts under INFRASTRUCTURE', async (caller) => {
    const worker = await runOne({}, failing(caller, 'Lambda.ServiceException'));

    expect(await worker.inbox(KEY)).toMatchObject({
      status: 'FAILED_TERMINAL',
      failureCode: 'INFRASTRUCTURE',
      // What went wrong, for whoever opens the case.
      failureMessage: expect.stringMatching(/^Lambda\.ServiceException: \{.*errorMessage/),
      failureReason: 'ATTEMPTS_EXHAUSTED',
      attempts: 5,
    });
    expect(await worker.execution(KEY)).toMatchObject({ status: 'FAILED', error: 'INFRASTRUCTURE' });
    await expectInvariants(worker, { keys: [KEY] });
  });

  it('retries ReportFailure in place, too', () => {
    expect(infrastructure('ReportFailure')).toEqual(expect.arrayContaining(infrastructure('Plan')));
  });
});

describe('classification', () => {
  const schema = { 1: v.object({ value: v.string() }) };
  const absent = { bucket: 'stepwell-payloads', key: 'absent', sha256: 'a'.repeat(64) };
  const rows: readonly (readonly [string, Run, string, string, number])[] = [
    [
      'a retryable failure',
      { definition: throwing(() => new RetryableFailure('BUSY')) },
      'BUSY',
      'ATTEMPTS_EXHAUSTED',
      5,
    ],
    ['a terminal failure', { definition: throwing(() => new TerminalFailure('NEVER')) }, 'NEVER', 'NEVER', 1],
    [
      'an unknown exception',
      { definition: throwing(() => new RangeError('bug')) },
      'RangeError',
      'ATTEMPTS_EXHAUSTED',
      5,
    ],
    ['a thrown text', { definition: throwing(() => 'text') }, 'UnknownFailure', 'ATTEMPTS_EXHAUSTED', 5],
    [
      'an error with an unusable name',
      { definition: throwing(() => named('no name!')) },
      'UnknownFailure',
      'ATTEMPTS_EXHAUSTED',
      5,
    ],
    [
      'a payload that the schema refuses',
      { definition: { ...applies, schemas: schema } },
      'INVALID_PAYLOAD',
      'INVALID_PAYLOAD',
      1,
    ],
    [
      'a schema version that is not deployed',
      { envelope: { schemaVersion: 9 } },
      'UNKNOWN_SCHEMA_VERSION',
      'UNKNOWN_SCHEMA_VERSION',
      1,
    ],
    [
      'a payload that is not there yet',
      { envelope: { payload: undefined, payloadRef: absent } },
      'PAYLOAD_NOT_FOUND',
      'ATTEMPTS_EXHAUSTED',
      5,
    ],
    [
      'a payload in a strange bucket',
      { envelope: { payload: undefined, payloadRef: { ...absent, bucket: 'other' } } },
      'PAYLOAD_BUCKET_NOT_ALLOWED',
      'PAYLOAD_BUCKET_NOT_ALLOWED',
      1,
    ],
    [
      'a plan that cannot be written',
      { definition: probe(() => ({ set: { value: Number.NaN } })) },
      'PLAN_INVALID',
      'PLAN_INVALID',
      1,
    ],
    [
      'a plan that is too large',
      { definition: probe(() => ({ set: { value: 'x'.repeat(260_000) } })) },
      'PLAN_TOO_LARGE',
      'PLAN_TOO_LARGE',
      1,
    ],
    [
      'a plan that DynamoDB refuses',
      { definition: probe(() => ({ remove: ['a', 'a'] })) },
      'PLAN_INVALID',
      'PLAN_INVALID',
      1,
    ],
    [
      'a gap that is not filled',
      {
        definition: { ...applies, ordering: 'sequential', gapTimeoutSeconds: 60 },
        envelope: { aggregateVersion: 2 },
      },
      'ORDERING_GAP',
      'ORDERING_GAP',
      1,
    ],
    [
      'a retryable code that the envelope calls terminal',
      {
        definition: throwing(() => new RetryableFailure('BUSY')),
        envelope: { attemptPolicy: { terminalAfterCodes: ['BUSY'] } },
      },
      'BUSY',
      'BUSY',
      1,
    ],
    [
      'an unknown exception that the type calls terminal',
      {
        definition: throwing(() => new RangeError('bug'), {
          attempts: { terminalAfterCodes: ['RangeError'] },
        }),
      },
      'RangeError',
      'RangeError',
      1,
    ],
    [
      'fewer attempts by the envelope than by the type',
      {
        definition: throwing(() => new RetryableFailure('BUSY'), { attempts: { max: 9 } }),
        envelope: { attemptPolicy: { maxBusinessAttempts: 2 } },
      },
      'BUSY',
      'ATTEMPTS_EXHAUSTED',
      2,
    ],
    [
      'a window that closes',
      {
        definition: throwing(() => new RetryableFailure('BUSY', { retryAfterSeconds: 600 })),
        envelope: { attemptPolicy: { retryableUntil: '2026-01-01T00:15:00Z' } },
      },
      'BUSY',
      'RETRY_WINDOW_CLOSED',
      2,
    ],
  ];

  it.each(rows)('%s', async (_what, run, code, reason, attempts) => {
    const worker = await runOne(run);

    const execution = await worker.execution(KEY);
    expect(execution).toMatchObject({ status: 'FAILED', error: code });
    expect(execution.states.slice(-4)).toEqual([
      'AttemptsLeft',
      'Quarantine',
      'AnnounceQuarantine',
      'ReportFailure',
    ]);
    const row = await worker.inbox(KEY);
    expect(row).toMatchObject({
      status: 'FAILED_TERMINAL',
      failureCode: code,
      failureReason: reason,
      attempts,
    });
    const cause: unknown = JSON.parse(JSON.parse(execution.cause ?? '{}').errorMessage);
    expect(cause).toMatchObject({
      code,
      reason,
      attempts,
      idempotencyKey: KEY,
      message: row?.failureMessage,
    });
    const [announced, ...rest] = await receiveAll(worker, worker.names.quarantineQueueUrl);
    expect(rest).toEqual([]);
    expect(JSON.parse(announced?.body ?? '{}')).toMatchObject({
      code,
      reason,
      attempts,
      message: row?.failureMessage,
      executionArn: execution.arn,
      envelope: { idempotencyKey: KEY, messageId: 'msg-probe' },
      firstSeenAt: row?.firstSeenAt,
      quarantinedAt: row?.failedAt,
    });
    await expectInvariants(worker, { keys: [KEY], maxAttempts: attempts });
  });

  it('cuts the text of an exception to 2 KB in the row', async () => {
    const worker = await runOne({ definition: throwing(() => new RangeError('€'.repeat(5_000))) });

    const message = String((await worker.inbox(KEY))?.failureMessage);
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(2_048);
    expect(message).toMatch(/^€+$/);
  });
});

describe('what no catcher sees', () => {
  const busy = throwing(() => new RetryableFailure('BUSY'));

  /** Puts another state into the definition before anything is started. */
  async function broken(state: string, change: Record<string, unknown>): Promise<TestWorker> {
    const worker = await startWorker({ messages: [busy] });
    const { stateMachineArn } = worker.names;
    const { definition = '' } = await worker.clients.sfn.send(
      new DescribeStateMachineCommand({ stateMachineArn }),
    );
    const parsed: { States: Record<string, object> } = JSON.parse(definition);
    worker.stepFunctions.updateStateMachine(
      stateMachineArn,
      JSON.stringify({
        ...parsed,
        States: { ...parsed.States, [state]: { ...parsed.States[state], ...change } },
      }),
    );
    return worker;
  }

  const rows: readonly (readonly [string, () => Promise<TestWorker>, string, number])[] = [
    [
      'a condition of a Choice that cannot be evaluated',
      () =>
        broken('AttemptsLeft', {
          Choices: [{ Condition: '{% $states.input.nothing.at.all %}', Next: 'BackOff' }],
        }),
      'States.QueryEvaluationError',
      1,
    ],
    [
      'a state’s output that is too large',
      () => broken('BackOff', { Output: { progress: { text: "{% $pad('x', 300000) %}" } } }),
      'States.DataLimitExceeded',
      1,
    ],
    [
      'a wait without a time',
      () => broken('BackOff', { Seconds: "{% 'soon' %}" }),
      'States.QueryEvaluationError',
      1,
    ],
    [
      'arguments that no service takes',
      () => broken('Quarantine', { Arguments: { TransactItems: 'none' } }),
      'States.Runtime',
      5,
    ],
    [
      'an abort',
      async () => {
        const worker = await startWorker({ messages: [busy] });
        await worker.send(probeEnvelope());
        await untilIn(worker, KEY, 'BackOff');
        await abort(worker, KEY);
        return worker;
      },
      'EXECUTION_ABORTED',
      1,
    ],
    [
      'the time-out of the execution',
      () =>
        startWorker({
          messages: [throwing(() => new RetryableFailure('BUSY', { retryAfterSeconds: 7_200 }))],
          numbers: { executionTimeoutSeconds: 3_600 },
        }),
      'EXECUTION_TIMED_OUT',
      1,
    ],
  ];

  it.each(rows)(
    '%s: failed and quarantined by the reconciler under its name',
    async (_what, begin, code, attempts) => {
      const worker = await begin();
      if ((await worker.executions()) === 0) await worker.send(probeEnvelope());
      await worker.until(async () => (await worker.inbox(KEY))?.status === 'FAILED_TERMINAL');
      await worker.until(async () => (await worker.depth(worker.names.quarantineQueueUrl)) === 1);

      expect(await worker.inbox(KEY)).toMatchObject({ failureCode: code, failureReason: code, attempts });
      const [announced] = await receiveAll(worker, worker.names.quarantineQueueUrl);
      expect(JSON.parse(announced?.body ?? '{}')).toMatchObject({ code, envelope: { idempotencyKey: KEY } });
      await expectInvariants(worker, { keys: [KEY] });
    },
  );
});
