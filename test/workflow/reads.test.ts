import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { toItem } from '../../lambdas/aws/items.ts';
import { defineMessage } from '../../lambdas/core/message-type.ts';
import type { Fault } from '../../local/edge/faults.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

const RATE = { PK: 'RATE#standard', SK: 'META' };

const feeRequested = defineMessage({
  type: 'FeeRequested',
  schemas: { 1: v.object({ days: v.number() }) },
  ordering: 'none',
  reads: () => [RATE],
  plan: ({ payload, reads: [rate] }) => ({ set: { fee: payload.days * Number(rate?.perDay ?? 1) } }),
});

const fee = {
  messageId: 'fee-1',
  schemaVersion: 1,
  messageType: 'FeeRequested',
  producer: 'cases',
  occurredAt: '2026-01-01T00:00:00Z',
  idempotencyKey: 'fee:1',
  aggregateType: 'case',
  aggregateId: 'C-1',
  payload: { days: 3 },
};

const putRate = (worker: TestWorker, attributes: Record<string, unknown>) =>
  worker.clients.dynamodb.send(
    new PutItemCommand({ TableName: worker.names.tableName, Item: toItem({ ...RATE, ...attributes }) }),
  );

/** Starts a worker in which `meanwhile` happens once, between Plan's read and the first Commit. */
async function startRace(meanwhile: (worker: TestWorker) => Promise<unknown>): Promise<TestWorker> {
  let raced = false;
  const worker: TestWorker = await startWorker({
    messages: [feeRequested],
    faults: async ({ operation }): Promise<Fault> => {
      if (operation === 'TransactWriteItems' && !raced) {
        raced = true;
        await meanwhile(worker);
      }
      return 'none';
    },
  });
  return worker;
}

describe('reads', () => {
  it.each([
    ['an item with a revision', { revision: 1, perDay: 10 }, { revision: 2, perDay: 20 }],
    ['an item without one', { perDay: 10 }, { perDay: 20 }],
    ['an item that was not there', undefined, { perDay: 20 }],
  ])('plans again when %s has changed before the commit', async (_what, before, after) => {
    const worker = await startRace((racing) => putRate(racing, after));
    if (before !== undefined) await putRate(worker, before);

    await worker.send(fee);
    await worker.untilIdle();

    expect(await worker.aggregate('case', 'C-1')).toMatchObject({ fee: 60, revision: 1 });
    expect((await worker.execution('fee:1')).states).toEqual([
      'Plan',
      'Commit',
      'RoundsLeft',
      'Plan',
      'Commit',
    ]);
    expect(await worker.inbox('fee:1')).toMatchObject({ status: 'COMPLETED', attempts: 1 });
  });

  it('commits in one round while what it read is unchanged', async () => {
    const worker = await startWorker({ messages: [feeRequested] });
    await putRate(worker, { perDay: 10 });

    await worker.send(fee);
    await worker.untilIdle();

    expect(await worker.aggregate('case', 'C-1')).toMatchObject({ fee: 30 });
    expect((await worker.execution('fee:1')).billedTransitions).toBe(2);
  });
});
