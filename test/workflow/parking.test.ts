import { DescribeExecutionCommand, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { describe, expect, it } from 'vitest';
import { TerminalFailure } from '../../lambdas/core/errors.ts';
import { sealedKey } from '../../lambdas/core/seal.ts';
import type { Fault } from '../../local/edge/faults.ts';
import { allRows } from '../helpers/invariants.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { untilIn } from '../helpers/reconciler.ts';
import { redrive } from '../helpers/replay.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

const HOUR = 3_600_000;
const sequential = probe(({ envelope }) => ({ set: { last: envelope.idempotencyKey } }), {
  ordering: 'sequential',
  gapTimeoutSeconds: 3_600,
});
/** Version 1 fails for good until it is mended. */
const failing = (onPredecessorFailure: 'block' | 'skip') =>
  probe(
    ({ envelope }) => {
      if (envelope.aggregateVersion === 1) throw new TerminalFailure('NEVER');
      return { set: { last: envelope.idempotencyKey } };
    },
    { ordering: 'sequential', gapTimeoutSeconds: 3_600, onPredecessorFailure },
  );
const version = (aggregateVersion: number, idempotencyKey = `v${aggregateVersion}`) =>
  probeEnvelope({ idempotencyKey, aggregateVersion });

async function park(worker: TestWorker, ...versions: readonly number[]): Promise<void> {
  for (const number of versions) {
    await worker.send(version(number));
    await untilIn(worker, `v${number}`, 'Park');
  }
}

const applied = async (worker: TestWorker) => {
  const row = await worker.aggregate('probe', '1');
  return { version: row?.['version#Probe'], revision: row?.revision };
};
const waiters = async (worker: TestWorker) =>
  (await allRows(worker)).filter(({ SK }) => String(SK).startsWith('WAITER#'));

async function parkTimeouts(worker: TestWorker, key: string): Promise<number> {
  const { arn } = await worker.execution(key);
  return (worker.stepFunctions.history(arn) ?? []).filter(({ type }) => type === 'TaskTimedOut').length;
}

describe('a parked execution', () => {
  it.each([
    ['its waiter row', undefined, 'PutItem'],
    ["its predecessor's commit", 'commit', 'TransactWriteItems'],
  ])('is woken when %s comes last', async (_last, heldCaller, heldOperation) => {
    const written: string[] = [];
    const worker = await startWorker({
      messages: [sequential],
      async faults({ caller, operation }): Promise<Fault> {
        const write = caller === undefined ? operation : caller;
        if (caller === heldCaller && operation === heldOperation) await worker.clock.sleep(10_000);
        if (write === 'PutItem' || write === 'commit') written.push(write);
        return 'none';
      },
    });

    await worker.send(version(2));
    await untilIn(worker, 'v2', 'Park');
    await worker.send(version(1));
    await worker.untilIdle();

    expect(written[0]).toBe(heldCaller === undefined ? 'commit' : 'PutItem');
    expect(await applied(worker)).toEqual({ version: 2, revision: 2 });
    expect(await parkTimeouts(worker, 'v2')).toBe(0);
    expect(await waiters(worker)).toEqual([]);
  });

  it('is woken however often and wherever the waker dies, its batches delivered twice', async () => {
    /** Runs with the n-th call of the waker killed; returns whether there was one. */
    const run = async (at: number, fault: Fault): Promise<boolean> => {
      let calls = 0;
      const worker = await startWorker({
        messages: [sequential],
        deliverChanges: () => 'twice',
        faults({ caller }) {
          if (caller !== 'waker') return 'none';
          calls += 1;
          return calls === at ? fault : 'none';
        },
      });
      await park(worker, 3, 2);
      await worker.send(version(1));
      await worker.untilIdle();

      expect(await applied(worker), `call ${at}`).toEqual({ version: 3, revision: 3 });
      for (const key of ['v2', 'v3']) expect(await parkTimeouts(worker, key), `call ${at}`).toBe(0);
      await worker.stop();
      return calls >= at;
    };

    let points = 0;
    for (const fault of ['kill', { after: 'kill' }] as const) {
      for (let at = 1; await run(at, fault); at += 1) points += 1;
    }

    expect(points).toBeGreaterThan(20);
  });

  it('is woken by the token of its second park when the waker still holds the first', async () => {
    let parks = 0;
    const worker = await startWorker({
      messages: [sequential],
      async faults({ caller, operation }): Promise<Fault> {
        const parking = caller === undefined && operation === 'PutItem';
        if (parking) parks += 1;
        // Parks again after the waker has read its row, and before the waker deletes it.
        if (parking && parks === 2) await worker.clock.sleep(10_000);
        if (caller === 'waker' && operation === 'SendTaskSuccess') await worker.clock.sleep(20_000);
        return 'none';
      },
    });
    await park(worker, 2);
    await worker.until(() => parks === 2);
    const timedOutAt = worker.clock.now();

    await worker.send(version(1));
    await worker.untilIdle();

    expect(parks).toBe(2);
    expect(await parkTimeouts(worker, 'v2')).toBe(1);
    expect(worker.clock.now() - timedOutAt).toBeLessThan(60_000);
    expect(await applied(worker)).toEqual({ version: 2, revision: 2 });
  });

  it('is woken by the sweep when the change stream stands still', async () => {
    const worker = await startWorker({
      messages: [sequential],
      sweepSeconds: 300,
      deliverChanges: () => ({ delayMilliseconds: 24 * HOUR }),
    });
    await park(worker, 2);
    const begin = worker.clock.now();

    await worker.send(version(1));
    await worker.untilIdle();

    expect(await applied(worker)).toEqual({ version: 2, revision: 2 });
    expect(await parkTimeouts(worker, 'v2')).toBe(0);
    expect(worker.clock.now() - begin).toBeLessThanOrEqual(600_000);
  });

  it('comes back by its own time-out when nobody ever answers', async () => {
    const worker = await startWorker({
      messages: [sequential],
      deliverChanges: () => ({ delayMilliseconds: 24 * HOUR }),
    });
    await park(worker, 2);

    await worker.send(version(1));
    await worker.untilIdle(HOUR);

    expect(await applied(worker)).toEqual({ version: 2, revision: 2 });
    expect(await parkTimeouts(worker, 'v2')).toBe(1);
    expect(await worker.inbox('v2')).toMatchObject({ attempts: 1 });
  });

  it('commits once when two executions of its key are parked', async () => {
    const worker = await startWorker({ messages: [sequential] });
    await park(worker, 2);
    const { arn } = await worker.execution('v2');
    const { input = '' } = await worker.clients.sfn.send(new DescribeExecutionCommand({ executionArn: arn }));
    await worker.clients.sfn.send(
      new StartExecutionCommand({ stateMachineArn: worker.names.stateMachineArn, name: 'by-hand', input }),
    );
    await worker.until(async () => (await waiters(worker)).length === 2);

    await worker.send(version(1));
    await worker.untilIdle();

    expect(await worker.executions('SUCCEEDED')).toBe(3);
    expect(await applied(worker)).toEqual({ version: 2, revision: 2 });
    expect(await waiters(worker)).toEqual([]);
  });
});

describe('a predecessor in quarantine', () => {
  it.each(['inline', 'reference'] as const)(
    'is waited for beyond the gap time-out when its type blocks, and its replay lets all go on (data: %s)',
    async (data) => {
      const worker = await startWorker({ messages: [{ ...failing('block'), data }] });
      const known = data === 'reference' ? sealedKey : (key: string) => key;
      await worker.send(version(1));
      await worker.untilIdle();
      for (const number of [2, 3]) {
        await worker.send(version(number));
        await worker.until(async () => (await waiters(worker)).length === number - 1);
      }
      const begin = worker.clock.now();
      await worker.until(() => worker.clock.now() >= begin + 30 * HOUR);
      const running = await worker.executions('RUNNING');

      worker.deploy([{ ...sequential, data }]);
      await redrive(worker, known('v1'));

      expect(running).toBe(2);
      expect(await applied(worker)).toEqual({ version: 3, revision: 3 });
    },
  );

  it('is stepped over when its type skips, and its replay is superseded', async () => {
    const worker = await startWorker({ messages: [failing('skip')] });
    await park(worker, 3, 2);
    await worker.send(version(1));
    await worker.untilIdle();
    const before = await applied(worker);

    worker.deploy([{ ...sequential, onPredecessorFailure: 'skip' }]);
    await redrive(worker, 'v1');

    expect(before).toEqual({ version: 3, revision: 2 });
    expect(await worker.inbox('v1')).toMatchObject({ status: 'COMPLETED', outcome: 'SUPERSEDED' });
    expect(await applied(worker)).toEqual(before);
  });
});

describe('a gap', () => {
  it('fails what waits behind it in time, again at a replay, and no more once it is filled', async () => {
    const worker = await startWorker({ messages: [sequential] });
    await worker.send(version(2));
    await worker.untilIdle();
    const first = await worker.inbox('v2');
    const failedAt = worker.clock.now();

    await redrive(worker, 'v2');
    const waited = worker.clock.now() - failedAt;
    const second = await worker.inbox('v2');
    await worker.send(version(1));
    await worker.untilIdle();
    await redrive(worker, 'v2');

    expect(first).toMatchObject({ failureCode: 'ORDERING_GAP' });
    expect(second).toMatchObject({ failureCode: 'ORDERING_GAP', replays: 1 });
    expect(waited).toBeGreaterThanOrEqual(HOUR);
    expect(await applied(worker)).toEqual({ version: 2, revision: 2 });
  });

  it('is never stepped over, whatever the type does with failures', async () => {
    const worker = await startWorker({ messages: [failing('skip')] });

    await park(worker, 3, 2);
    await worker.untilIdle();

    const markers = (await allRows(worker)).filter(({ SK }) => String(SK).startsWith('SKIP#'));
    expect(markers).toEqual([]);
    expect(await worker.inbox('v2')).toMatchObject({ failureCode: 'ORDERING_GAP' });
  });
});
