import { ListEventSourceMappingsCommand, UpdateEventSourceMappingCommand } from '@aws-sdk/client-lambda';
import { describe, expect, it } from 'vitest';
import { createLimit } from '../../lambdas/aws/in-flight.ts';
import { RetryableFailure } from '../../lambdas/core/errors.ts';
import { expectInvariants } from '../helpers/invariants.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);
const applied = probe(() => ({ set: { done: true } }));
const keysOf = (count: number) => Array.from({ length: count }, (_, index) => `probe:${index}`);
const sendEach = async (worker: TestWorker, keys: readonly string[]) => {
  for (const key of keys) await worker.send(probeEnvelope({ idempotencyKey: key, aggregateId: key }));
};

async function source(worker: TestWorker) {
  const { EventSourceMappings = [] } = await worker.clients.lambda.send(
    new ListEventSourceMappingsCommand({ FunctionName: 'starter' }),
  );
  const [mapping] = EventSourceMappings;
  return { state: mapping?.State, concurrency: mapping?.ScalingConfig?.MaximumConcurrency };
}

/** Waits for a state and tells after how many minutes of virtual time it came. */
async function untilState(worker: TestWorker, state: string, concurrency: number): Promise<number> {
  await worker.until(async () => {
    const now = await source(worker);
    return now.state === state && now.concurrency === concurrency;
  });
  return Math.round((worker.clock.now() - START) / MINUTE);
}

describe('persistent throttling', () => {
  it('pauses the queue, tries it with little, and opens it fully when it works again', async () => {
    const worker = await startWorker({
      messages: [applied],
      sweepSeconds: 300,
      maxConcurrency: 7,
      faults({ caller, operation }) {
        const throttled = worker.clock.now() < START + 20 * MINUTE;
        return throttled && caller === 'starter' && operation === 'StartExecution'
          ? { before: { status: 400, code: 'ThrottlingException' } }
          : 'none';
      },
    });
    const keys = keysOf(60);
    await sendEach(worker, keys);

    const paused = await untilState(worker, 'Disabled', 7);
    const probed = await untilState(worker, 'Enabled', 2);
    const pausedAgain = await untilState(worker, 'Disabled', 2);
    const resumed = await untilState(worker, 'Enabled', 7);
    await worker.untilIdle();

    expect(paused).toBeLessThanOrEqual(10);
    expect(probed).toBe(paused + 5);
    expect(pausedAgain).toBe(probed + 5);
    // Open for 10 minutes the second time, then half open for one sweep.
    expect(resumed).toBe(pausedAgain + 15);
    expect(await worker.depth(worker.names.dlqUrl)).toBe(0);
    await expectInvariants(worker, { keys });
  });

  it('leaves a source alone that somebody else paused', async () => {
    const worker = await startWorker({ messages: [applied], sweepSeconds: 300 });
    const { EventSourceMappings = [] } = await worker.clients.lambda.send(
      new ListEventSourceMappingsCommand({ FunctionName: 'starter' }),
    );
    await worker.clients.lambda.send(
      new UpdateEventSourceMappingCommand({ UUID: EventSourceMappings[0]?.UUID, Enabled: false }),
    );

    await worker.until(() => worker.clock.now() > START + 30 * MINUTE);

    expect(await source(worker)).toMatchObject({ state: 'Disabled' });
  });
});

describe('a register that stays full', () => {
  it('pauses the queue until there is room again', async () => {
    let broken = true;
    const worker = await startWorker({
      messages: [
        probe(() => {
          if (broken) throw new RetryableFailure('DOWN', { retryAfterSeconds: 900 });
          return { set: { done: true } };
        }),
      ],
      maxInFlight: 4,
      sweepSeconds: 300,
    });
    const keys = keysOf(12);
    await sendEach(worker, keys);

    await untilState(worker, 'Disabled', 5);
    broken = false;
    await untilState(worker, 'Enabled', 5);
    await worker.untilIdle();

    await expectInvariants(worker, { keys });
    expect(await worker.depth(worker.names.dlqUrl)).toBe(0);
  });

  it('gives places back that were taken for what was never started or is final', async () => {
    const worker = await startWorker({ messages: [applied], maxInFlight: 4, sweepSeconds: 300 });
    await sendEach(worker, ['done']);
    await worker.until(async () => (await worker.inbox('done'))?.status === 'COMPLETED');
    const { tableName: TABLE_NAME, workerName: WORKER_NAME } = worker.names;
    const register = createLimit({ TABLE_NAME, WORKER_NAME, MAX_IN_FLIGHT: '4' }, worker);

    await worker.until(async () => (await register?.entries())?.length === 0);
    for (const key of ['done', 'unknown']) await register?.take(key);
    await worker.until(async () => (await register?.entries())?.length === 0, 21 * MINUTE);

    expect(await register?.room()).toBe(4);
  });
});
