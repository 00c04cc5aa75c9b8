import { describe, expect, it } from 'vitest';
import { TerminalFailure } from '../../lambdas/core/errors.ts';
import { conflictKey } from '../../lambdas/core/table.ts';
import type { Fault } from '../../local/edge/faults.ts';
import { allRows, expectInvariants, inboxRows } from '../helpers/invariants.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { receiveAll } from '../helpers/queue.ts';
import { startWorker } from '../helpers/worker.ts';

const KEY = 'probe:1';
const applies = probe(({ payload }) => ({ set: { value: Number(payload.value) } }));
const other = probe(() => ({ set: { other: true } }), { type: 'Other' });

/** A worker whose message has failed for good, and the row of it. */
async function startFailed() {
  const fails = probe(() => {
    throw new TerminalFailure('NEVER');
  });
  const worker = await startWorker({ messages: [fails] });
  await worker.send(probeEnvelope());
  await worker.untilIdle();
  return { worker, before: await worker.inbox(KEY) };
}

describe('the same work sent again', () => {
  it.each([1, 10])('commits once for 5 copies at once, in batches of %i', async (batchSize) => {
    const worker = await startWorker({ messages: [applies], batchSize });

    for (let copy = 0; copy < 5; copy += 1) {
      const occurredAt = `2026-01-01T00:00:0${copy}Z`;
      await worker.send(probeEnvelope({ messageId: `copy-${copy}`, occurredAt, correlationId: `c-${copy}` }));
    }
    await worker.untilIdle();

    expect(await worker.executions()).toBe(1);
    expect(await worker.aggregate('probe', '1')).toMatchObject({ revision: 1 });
    expect(await worker.depth(worker.names.dlqUrl)).toBe(0);
    await expectInvariants(worker, { keys: [KEY] });
  });

  it('is a no-op after completion', async () => {
    const worker = await startWorker({ messages: [applies] });
    await worker.send(probeEnvelope());
    await worker.untilIdle();
    const before = await worker.inbox(KEY);

    await worker.send(probeEnvelope({ messageId: 'again' }));
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toEqual(before);
    expect(await worker.executions()).toBe(1);
  });

  it('is acknowledged as a known failure after a failure for good, and changes nothing', async () => {
    const { worker, before } = await startFailed();

    await worker.send(probeEnvelope());
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toEqual(before);
    expect(before).toMatchObject({ status: 'FAILED_TERMINAL' });
    expect(await worker.executions()).toBe(1);
    expect(await worker.depth(worker.names.dlqUrl)).toBe(0);
  });

  it.each([
    ['the inbox row and the start', 'starter', 'PutItem'],
    ['the start and the acknowledgement', 'starter', 'StartExecution'],
    ["Commit's transaction and its answer", 'commit', 'TransactWriteItems'],
  ])('commits once when the process dies between %s', async (_where, caller, operation) => {
    let killed = false;
    const worker = await startWorker({
      messages: [applies],
      faults(call): Fault {
        if (killed || call.caller !== caller || call.operation !== operation) return 'none';
        killed = true;
        return { after: 'kill' };
      },
    });

    await worker.send(probeEnvelope());
    await worker.untilIdle();

    expect(killed).toBe(true);
    expect(await worker.executions()).toBe(1);
    expect(await worker.aggregate('probe', '1')).toMatchObject({ revision: 1 });
    await expectInvariants(worker, { keys: [KEY] });
  });
});

describe('another request under a known key', () => {
  const conflicting = [
    ['another message type', { messageType: 'Other' }],
    ['another schema version', { schemaVersion: 2 }],
    ['another payload', { payload: { value: 2 } }],
    ['another aggregate', { aggregateId: '2' }],
  ] as const;

  it.each(conflicting)(
    'is a conflict for %s, and goes to the dead-letter queue after 3 receives',
    async (_what, change) => {
      const worker = await startWorker({ messages: [applies, other] });
      await worker.send(probeEnvelope());
      await worker.untilIdle();
      const before = await worker.inbox(KEY);

      await worker.send(probeEnvelope(change));
      await worker.untilIdle();

      expect(await worker.inbox(KEY)).toEqual(before);
      expect(await worker.executions()).toBe(1);
      const rows = await allRows(worker);
      const conflicts = rows.filter(({ SK }) => String(SK).startsWith('CONFLICT#'));
      expect(conflicts).toMatchObject([
        { count: 3, attention: expect.stringMatching(/^CONFLICT#2026-01-01#/) },
      ]);
      expect(conflicts[0]).toMatchObject(conflictKey(KEY, String(conflicts[0]?.requestHash)));
      const [kept, ...rest] = await receiveAll(worker, worker.names.dlqUrl);
      expect(rest).toEqual([]);
      expect(JSON.parse(kept?.body ?? '{}')).toMatchObject(change);
      expect(kept?.attributes).toMatchObject({ FailureCode: 'IDEMPOTENCY_HASH_MISMATCH' });
    },
  );

  it('goes to the quarantine where the policy says so', async () => {
    const worker = await startWorker({
      messages: [applies],
      invalidMessages: 'quarantine',
      invalidReceives: 1,
    });
    await worker.send(probeEnvelope());
    await worker.send(probeEnvelope({ payload: { value: 2 } }));
    await worker.untilIdle();

    const rows = await allRows(worker);
    expect(rows.filter(({ PK }) => String(PK).startsWith('QUARANTINE#'))).toMatchObject([
      { code: 'IDEMPOTENCY_HASH_MISMATCH', source: 'starter', body: expect.stringContaining('"probe:1"') },
    ]);
    expect(inboxRows(rows)).toMatchObject([{ status: 'COMPLETED' }]);
    expect(await receiveAll(worker, worker.names.quarantineQueueUrl)).toHaveLength(1);
    expect(await worker.depth(worker.names.dlqUrl)).toBe(0);
  });

  it('finds the first untouched whatever its status', async () => {
    const { worker, before } = await startFailed();

    await worker.send(probeEnvelope({ payload: { value: 2 } }));
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toEqual(before);
  });
});
