import { describe, expect, it } from 'vitest';
import { startWorker } from '../helpers/worker.ts';

function note(caseId: string, number: number) {
  return {
    messageId: `${caseId}-${number}`,
    schemaVersion: 1,
    messageType: 'CaseNoteAdded',
    producer: 'front-office',
    occurredAt: '2026-01-01T00:00:00Z',
    idempotencyKey: `${caseId}:note:${number}`,
    aggregateType: 'case',
    aggregateId: caseId,
    payload: { noteId: `n${number}`, category: 'phone' },
  };
}

describe('arrival ordering on a FIFO queue', () => {
  it('applies the messages of each group in the order in which they were sent', async () => {
    const worker = await startWorker({ fifo: true });
    const numbers = Array.from({ length: 12 }, (_, index) => index);

    for (const number of numbers) {
      for (const group of ['A', 'B']) await worker.send(note(group, number), { groupId: group });
    }
    await worker.untilIdle();

    const inOrder = numbers.map((number) => `n${number}`);
    expect(await worker.aggregate('case', 'A')).toMatchObject({ noteIds: inOrder, revision: 12 });
    expect(await worker.aggregate('case', 'B')).toMatchObject({ noteIds: inOrder, revision: 12 });
  });

  it('keeps the number that a message was given when it is delivered again', async () => {
    let fail = true;
    const worker = await startWorker({
      fifo: true,
      faults: ({ service, operation }) => {
        if (service === 'sfn' && operation === 'StartExecution' && fail) {
          fail = false;
          return { before: 'timeout' };
        }
        return 'none';
      },
    });

    await worker.send(note('A', 0), { groupId: 'A' });
    await worker.send(note('A', 1), { groupId: 'A' });
    await worker.untilIdle();

    expect(await worker.inbox('A:note:0')).toMatchObject({
      arrival: 1,
      receiveCount: 2,
      status: 'COMPLETED',
    });
    expect(await worker.aggregate('case', 'A')).toMatchObject({ noteIds: ['n0', 'n1'] });
  });

  it('sends nothing to the dead-letter queue that has a number, or its successors would wait for it', async () => {
    let refusals = 0;
    const worker = await startWorker({
      fifo: true,
      invalidReceives: 1,
      faults: ({ caller, operation }) =>
        caller === 'starter' && operation === 'StartExecution' && refusals++ < 10
          ? { before: { status: 400, code: 'ThrottlingException' } }
          : 'none',
    });

    await worker.send({ ...note('A', 0), payload: { unknown: true } }, { groupId: 'A' });
    await worker.send(note('A', 1), { groupId: 'A' });
    await worker.until(async () => (await worker.inbox('A:note:0'))?.status === 'FAILED_TERMINAL');

    expect(await worker.inbox('A:note:0')).toMatchObject({ arrival: 1, failureCode: 'INVALID_PAYLOAD' });
    expect(await worker.depth(worker.names.dlqUrl)).toBe(0);
  });
});
