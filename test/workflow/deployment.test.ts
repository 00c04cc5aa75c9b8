import { DescribeStateMachineCommand } from '@aws-sdk/client-sfn';
import { StartMessageMoveTaskCommand } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { ConfigurationError, RetryableFailure } from '../../lambdas/core/errors.ts';
import type { AnyMessageDefinition } from '../../lambdas/core/message-type.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { untilIn } from '../helpers/reconciler.ts';
import { redrive } from '../helpers/replay.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

const KEY = 'probe:1';
const settings = { ordering: 'sequential' } as const;
const failing = probe(() => {
  throw new RetryableFailure('NOT_YET', { retryAfterSeconds: 60 });
}, settings);
const before = probe(() => ({ set: { by: 'before' } }), settings);
const after = probe(() => ({ set: { by: 'after' } }), settings);

/** New handlers, and a definition in which the states have other time-outs and the machine another comment. */
async function deploy(worker: TestWorker, messages: readonly AnyMessageDefinition[]): Promise<void> {
  worker.deploy(messages);
  const { stateMachineArn } = worker.names;
  const { definition = '' } = await worker.clients.sfn.send(
    new DescribeStateMachineCommand({ stateMachineArn }),
  );
  const changed = definition.replaceAll('"TimeoutSeconds":60', '"TimeoutSeconds":50');
  expect(changed).not.toBe(definition);
  worker.stepFunctions.updateStateMachine(stateMachineArn, changed);
}

describe('a deployment while an execution waits', () => {
  it.each([
    ['BackOff', failing, { aggregateVersion: 1 }],
    ['Defer', before, { aggregateVersion: 1, attemptPolicy: { notBefore: '2026-01-01T01:00:00Z' } }],
    ['Park', before, { aggregateVersion: 2 }],
  ])('leaves it to go on from %s with the new code', async (state, definition, overrides) => {
    const worker = await startWorker({ messages: [definition] });
    await worker.send(probeEnvelope(overrides));
    await untilIn(worker, KEY, state);

    await deploy(worker, [after]);
    if (state === 'Park') await worker.send(probeEnvelope({ idempotencyKey: 'first', aggregateVersion: 1 }));
    await worker.untilIdle();

    expect(await worker.execution(KEY)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED', outcome: 'APPLIED' });
    expect(await worker.aggregate('probe', '1')).toMatchObject({ by: 'after' });
  });
});

describe('a deployment that removes a message type', () => {
  const other = probe(() => ({ set: { by: 'other' } }), { type: 'Other' });

  it.each([
    ['BackOff', failing, { aggregateVersion: 1 }],
    ['Defer', before, { aggregateVersion: 1, attemptPolicy: { notBefore: '2026-01-01T01:00:00Z' } }],
    ['Park', before, { aggregateVersion: 2 }],
  ])(
    'makes an execution that waits in %s a case, which a replay finishes once the type is back',
    async (state, definition, overrides) => {
      const worker = await startWorker({ messages: [definition, other] });
      await worker.send(probeEnvelope(overrides));
      await untilIn(worker, KEY, state);

      worker.deploy([other]);
      await worker.until(async () => (await worker.execution(KEY)).status === 'FAILED');

      expect(await worker.execution(KEY)).toMatchObject({ status: 'FAILED', error: 'UNKNOWN_MESSAGE_TYPE' });
      expect(await worker.inbox(KEY)).toMatchObject({
        status: 'FAILED_TERMINAL',
        failureCode: 'UNKNOWN_MESSAGE_TYPE',
      });
      expect(await worker.depth(worker.names.quarantineQueueUrl)).toBe(1);

      worker.deploy([after, other]);
      if (state === 'Park')
        await worker.send(probeEnvelope({ idempotencyKey: 'first', aggregateVersion: 1 }));
      await redrive(worker, KEY);
      expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED' });
      expect(await worker.aggregate('probe', '1')).toMatchObject({ by: 'after' });
    },
  );

  it('sends messages that are still in the queue to the dead-letter queue, and a redrive finishes them', async () => {
    const worker = await startWorker({ messages: [before, other] });
    worker.deploy([other]);
    await worker.send(probeEnvelope({ aggregateVersion: 1 }));
    await worker.untilIdle();
    expect(await worker.depth(worker.names.dlqUrl)).toBe(1);
    expect(await worker.inbox(KEY)).toBeUndefined();

    worker.deploy([after, other]);
    await worker.clients.sqs.send(
      new StartMessageMoveTaskCommand({
        SourceArn: worker.names.dlqArn,
        DestinationArn: worker.names.queueArn,
      }),
    );
    await worker.untilIdle();
    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED' });
    expect(await worker.aggregate('probe', '1')).toMatchObject({ by: 'after' });
    expect(await worker.depth(worker.names.dlqUrl)).toBe(0);
  });
});

describe('a function whose code and settings are of two releases, for the seconds of a deployment', () => {
  it('is tried again in place, so that no business attempt is spent on it', async () => {
    let invocations = 0;
    const beforeFailure: number[] = [];
    const worker = await startWorker({
      messages: [before],
      functions: {
        plan: {
          timeoutSeconds: 30,
          async handler() {
            invocations += 1;
            throw new ConfigurationError('The bundled message types are not those that were deployed');
          },
        },
      },
    });
    await worker.send(probeEnvelope({ aggregateVersion: 1 }));
    await worker.until(async () => {
      const row = await worker.inbox(KEY);
      if (row?.status === 'FAILED_RETRYABLE') beforeFailure.push(invocations);
      return beforeFailure.length > 0;
    });

    expect(beforeFailure[0]).toBe(7);
    expect(await worker.inbox(KEY)).toMatchObject({ attempts: 1, failureCode: 'INFRASTRUCTURE' });
  });
});
