import { describe, expect, it } from 'vitest';
import type { MessageDefinition, Ordering } from '../../lambdas/core/message-type.ts';
import { FUNCTION_NAMES } from '../../local/functions.ts';
import { type ProbePayload, probe, probeEnvelope } from '../helpers/probe.ts';
import { startWorker } from '../helpers/worker.ts';

const ordered = (ordering: Ordering, type = 'Probe'): MessageDefinition<ProbePayload> =>
  probe(({ payload }) => ({ set: { value: Number(payload.value) } }), { ordering, type });

/** A worker of one type, and how often its waker was invoked. */
async function start(
  ordering: Ordering,
  settings: {
    readonly maxInFlight?: number;
    readonly others?: readonly MessageDefinition<ProbePayload>[];
  } = {},
) {
  const { others = [], ...rest } = settings;
  let woken = 0;
  const worker = await startWorker({
    ...rest,
    messages: [ordered(ordering), ...others],
    onInvoke(name) {
      if (name === FUNCTION_NAMES.waker) woken += 1;
    },
  });
  const commit = async (version: number) => {
    const idempotencyKey = `probe:${version}`;
    await worker.send(probeEnvelope({ idempotencyKey, aggregateVersion: version }));
    await worker.untilIdle();
    expect(await worker.inbox(idempotencyKey)).toMatchObject({ status: 'COMPLETED' });
    await worker.until(() => worker.inFlight() === 0);
  };
  return { worker, commit, woken: () => woken };
}

describe('the stream of a worker', () => {
  it.each(['none', 'latest'] as const)(
    'tells the waker nothing of a commit when its types are %s',
    async (ordering) => {
      const { commit, woken } = await start(ordering);

      await commit(1);
      await commit(2);

      expect(woken()).toBe(0);
    },
  );

  it('tells the waker of commits when a type waits its turn', async () => {
    const { commit, woken } = await start('sequential');

    await commit(1);

    expect(woken()).toBeGreaterThan(0);
  });

  it('tells the waker nothing of a commit on an aggregate in which nobody can wait', async () => {
    const { commit, woken } = await start('latest', { others: [ordered('sequential', 'Step')] });

    await commit(1);

    expect(woken()).toBe(0);
  });

  it('tells the waker of every commit when more streams wait than an event source takes patterns', async () => {
    const others = ['A', 'B', 'C', 'D', 'E'].map((type) => ordered('sequential', type));
    const { commit, woken } = await start('latest', { others });

    await commit(1);

    expect(woken()).toBeGreaterThan(0);
  });

  it('tells the waker of commits when executions at work are counted', async () => {
    const { commit, woken } = await start('none', { maxInFlight: 2 });

    await commit(1);

    expect(woken()).toBeGreaterThan(0);
  });

  it('tells it more once a type is deployed that waits its turn', async () => {
    const { worker, commit, woken } = await start('latest');
    worker.deploy([ordered('sequential')]);

    await commit(1);

    expect(woken()).toBeGreaterThan(0);
  });
});
