import { ListExecutionsCommand, RedriveExecutionCommand, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { describe, expect, it } from 'vitest';
import { createInFlightRegister } from '../../lambdas/aws/in-flight.ts';
import { RetryableFailure } from '../../lambdas/core/errors.ts';
import type { Fault } from '../../local/edge/faults.ts';
import type { DeliveryFault } from '../../local/event-sources/index.ts';
import { expectInvariants } from '../helpers/invariants.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { untilIn } from '../helpers/reconciler.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

const applied = probe(() => ({ set: { done: true } }));
const keysOf = (count: number) => Array.from({ length: count }, (_, index) => `probe:${index}`);
const sendEach = async (worker: TestWorker, keys: readonly string[]) => {
  for (const key of keys) await worker.send(probeEnvelope({ idempotencyKey: key, aggregateId: key }));
};

const inFlight = async (worker: TestWorker, limit: number) => {
  const { tableName, workerName } = worker.names;
  const register = createInFlightRegister(worker.clients.dynamodb, {
    tableName,
    worker: workerName,
    limit,
    clock: worker.clock,
  });
  return (await register.entries()).map(({ key }) => key);
};
/** The stream's records come after the executions have ended. */
const untilCounted = (worker: TestWorker, limit: number) =>
  worker.until(async () => (await inFlight(worker, limit)).length === 0, 3_600_000);

/** Every batch late by up to a minute, every third one twice. */
function lateAndTwice(): () => DeliveryFault {
  let batch = 0;
  return () => {
    batch += 1;
    return batch % 3 === 0 ? 'twice' : { delayMilliseconds: 1_000 * ((batch * 17) % 60) + 1 };
  };
}

describe('an in-flight limit', () => {
  it('holds at every start, however late and often the changes are delivered', async () => {
    const running: number[] = [];
    const worker = await startWorker({
      messages: [applied],
      maxInFlight: 20,
      deliverChanges: lateAndTwice(),
      async faults({ caller, operation }): Promise<Fault> {
        if (caller === 'starter' && operation === 'StartExecution') {
          running.push((await worker.executions('RUNNING')) + 1);
        }
        return 'none';
      },
    });
    const keys = keysOf(500);

    await sendEach(worker, keys);
    await worker.untilIdle();
    await untilCounted(worker, 20);

    expect(running.length).toBeGreaterThanOrEqual(500);
    expect(Math.max(...running)).toBeLessThanOrEqual(20);
    await expectInvariants(worker, { keys });
    expect(await worker.depth(worker.names.dlqUrl)).toBe(0);
  });

  it('gives the places of aborted executions back, and counts their replays', async () => {
    let broken = true;
    const worker = await startWorker({
      messages: [
        probe(() => {
          if (broken) throw new RetryableFailure('NOT_YET', { retryAfterSeconds: 600 });
          return { set: { done: true } };
        }),
      ],
      maxInFlight: 5,
      deliverChanges: lateAndTwice(),
    });
    const keys = keysOf(12);
    await sendEach(worker, keys);
    await worker.until(async () => (await worker.executions('RUNNING')) === 5);

    const { executions = [] } = await worker.clients.sfn.send(
      new ListExecutionsCommand({ stateMachineArn: worker.names.stateMachineArn, statusFilter: 'RUNNING' }),
    );
    for (const { executionArn } of executions) {
      await worker.clients.sfn.send(new StopExecutionCommand({ executionArn }));
    }
    broken = false;
    await worker.untilIdle();
    for (const { executionArn } of executions) {
      await worker.clients.sfn.send(new RedriveExecutionCommand({ executionArn }));
    }
    await worker.untilIdle();
    await untilCounted(worker, 5);

    for (const key of keys) expect(await worker.inbox(key)).toMatchObject({ status: 'COMPLETED' });
  });

  it('does not count what is parked, so that the version it waits for gets in', async () => {
    const worker = await startWorker({
      messages: [probe(() => ({ set: { done: true } }), { ordering: 'sequential' })],
      maxInFlight: 2,
    });
    const version = (aggregateVersion: number) =>
      probeEnvelope({ idempotencyKey: `v${aggregateVersion}`, aggregateVersion });
    for (const parked of [2, 3]) {
      await worker.send(version(parked));
      await untilIn(worker, `v${parked}`, 'Park');
    }
    await untilCounted(worker, 2);

    await worker.send(version(1));
    await worker.untilIdle();
    await untilCounted(worker, 2);

    expect(await worker.aggregate('probe', '1')).toMatchObject({ revision: 3, 'version#Probe': 3 });
  });

  it('gives the place back when a gap times out', async () => {
    const worker = await startWorker({
      messages: [
        probe(() => ({ set: { done: true } }), { ordering: 'sequential', gapTimeoutSeconds: 3_600 }),
      ],
      maxInFlight: 2,
      deliverChanges: lateAndTwice(),
    });

    await worker.send(probeEnvelope({ aggregateVersion: 2 }));
    await worker.untilIdle();
    await untilCounted(worker, 2);

    expect(await worker.inbox('probe:1')).toMatchObject({ failureCode: 'ORDERING_GAP' });
  });

  it('knows messages with personal data by the digest of their key alone', async () => {
    const worker = await startWorker({
      messages: [probe(() => ({ set: { done: true } }), { data: 'reference' })],
      maxInFlight: 2,
      functions: { commit: { timeoutSeconds: 30, handler: () => new Promise<void>(() => {}) } },
    });

    await worker.send(probeEnvelope());
    await worker.until(async () => (await inFlight(worker, 2)).length === 1);

    expect((await inFlight(worker, 2))[0]).not.toContain('probe:1');
  });

  it('does not count what is deferred', async () => {
    const worker = await startWorker({ messages: [applied], maxInFlight: 1 });
    const notBefore = '2026-01-01T01:00:00Z';
    await worker.send(probeEnvelope({ idempotencyKey: 'later', attemptPolicy: { notBefore } }));
    await untilIn(worker, 'later', 'Defer');

    await worker.send(probeEnvelope({ idempotencyKey: 'now', aggregateId: '2' }));
    await worker.until(async () => (await worker.inbox('now'))?.status === 'COMPLETED', 60_000);
    await worker.untilIdle();
    await untilCounted(worker, 1);

    expect(await worker.inbox('later')).toMatchObject({ status: 'COMPLETED' });
  });

  it('gives the place of a duplicate back whose first delivery has ended meanwhile', async () => {
    let committing = false;
    let held = false;
    const worker = await startWorker({
      messages: [applied],
      maxInFlight: 3,
      async faults({ caller, operation }): Promise<Fault> {
        if (caller === 'commit') {
          committing = true;
          await worker.clock.sleep(5_000);
        }
        // The second delivery has read the row, and gets on when the first one's work is done and counted.
        if (committing && !held && caller === 'starter' && operation === 'UpdateItem') {
          held = true;
          await worker.clock.sleep(10_000);
        }
        return 'none';
      },
    });
    await worker.send(probeEnvelope());
    await worker.until(() => committing);

    await worker.send(probeEnvelope());
    await worker.until(async () => (await worker.inbox('probe:1'))?.receiveCount === 2);
    await worker.untilIdle();
    await untilCounted(worker, 3);

    expect(held).toBe(true);
    expect(await worker.inbox('probe:1')).toMatchObject({ status: 'COMPLETED' });
  });

  it.each([
    ['before', 'kill'],
    ['after', { after: 'kill' }],
    ['with its answer lost after', { after: 'timeout' }],
  ] as const)('is empty at the end when starter or waker fails %s any call', async (_when, fault) => {
    const run = async (at: number): Promise<boolean> => {
      let calls = 0;
      const worker = await startWorker({
        messages: [applied],
        maxInFlight: 3,
        sweepSeconds: 300,
        deliverChanges: lateAndTwice(),
        faults({ caller }) {
          if (caller !== 'starter' && caller !== 'waker') return 'none';
          calls += 1;
          return calls === at ? fault : 'none';
        },
      });
      const keys = keysOf(5);
      await sendEach(worker, keys);
      await worker.untilIdle();
      await untilCounted(worker, 3);
      await expectInvariants(worker, { keys });
      await worker.stop();
      return calls >= at;
    };

    let at = 1;
    while (await run(at)) at += 1;

    expect(at).toBeGreaterThan(20);
  });
});
