import { describe, expect, it } from 'vitest';
import { runInOrder, SEND_ORDERS, type SendOrder } from '../helpers/order-run.ts';
import { startWorker } from '../helpers/worker.ts';

const isOrder = (name: string): name is SendOrder => name in SEND_ORDERS;
const ORDERS = Object.keys(SEND_ORDERS).filter(isOrder);

describe.each(ORDERS)('sequential ordering of versions sent %s', (order) => {
  it.each([10, 100])('applies each of %i once, at the same cost, without a poll', async (count) => {
    const worker = await startWorker();

    const run = await runInOrder(worker, worker.clock, count, order);

    expect(run).toMatchObject({ succeeded: count, version: count, revision: count, parkTimeouts: 0 });
    expect(run.mostTransitions).toBeLessThanOrEqual(6);
    expect(await worker.aggregate('case', 'CASE-123')).toMatchObject({
      'lastKey#CaseStageChanged': `case:CASE-123:stage:v${count}`,
    });
  });
});
