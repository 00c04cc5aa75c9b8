import { describe, expect, it } from 'vitest';
import { caseStageChanged } from '../../lambdas/messages/case-stage-changed.ts';
import { runInOrder, SEND_ORDERS, type SendOrder } from '../helpers/order-run.ts';
import { startWorker } from '../helpers/worker.ts';

const isOrder = (name: string): name is SendOrder => name in SEND_ORDERS;
const ORDERS = Object.keys(SEND_ORDERS).filter(isOrder);

describe.each(ORDERS)('sequential ordering of versions sent %s', (order) => {
  it('costs the same, and polls no more, when the data is a reference', async () => {
    const worker = await startWorker({ messages: [{ ...caseStageChanged, data: 'reference' }] });

    const run = await runInOrder(worker, worker.clock, 20, order);

    expect(run).toMatchObject({ succeeded: 20, version: 20, revision: 20, parkTimeouts: 0 });
    expect(run.mostTransitions).toBeLessThanOrEqual(6);
  });

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
