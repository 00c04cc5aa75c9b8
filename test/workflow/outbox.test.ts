import { TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { defineMessage } from '../../lambdas/core/message-type.ts';
import { outboxItem } from '../../lambdas/core/outbox.ts';
import { deadlineEnvelope } from '../helpers/envelopes.ts';
import { startWorker } from '../helpers/worker.ts';

const deadlineSet = defineMessage({
  type: 'CaseDeadlineSet',
  schemas: { 1: v.object({ caseId: v.string(), deadlineAt: v.string() }) },
  ordering: 'none',
  plan: ({ payload, aggregate }) => ({
    set: { reminders: Number(aggregate?.attributes.reminders ?? 0) + 1, remindAt: payload.deadlineAt },
  }),
});

/** Two workers with stacks of their own: the first one's events are the second one's messages. */
async function startChain() {
  const batches: number[] = [];
  const second = await startWorker({ workerName: 'reminders', messages: [deadlineSet] });
  const first = await startWorker({
    beside: second,
    outbox: {
      queueUrl: second.names.queueUrl,
      client: second.clients.sqs,
      deliver: (records) => {
        batches.push(records.length);
        return 'twice';
      },
    },
  });
  const arrived = (key: string) =>
    first.until(
      async () => (await second.inbox(key))?.receiveCount === 2 && (await second.executions('RUNNING')) === 0,
    );
  return { first, second, batches, arrived };
}

describe('the outbox', () => {
  it('makes a plan’s event the next worker’s message, once, though the pipe delivers it twice', async () => {
    const { first, second, batches, arrived } = await startChain();

    await first.send(deadlineEnvelope());
    await arrived('case:CASE-123:deadline:v4:set');

    expect(batches).toEqual([1]);
    expect(await second.inbox('case:CASE-123:deadline:v4:set')).toMatchObject({ status: 'COMPLETED' });
    expect(await second.aggregate('case', 'CASE-123')).toMatchObject({
      reminders: 1,
      revision: 1,
      remindAt: '2026-01-31T10:15:00.000Z',
    });
    expect(await second.executions()).toBe(1);
  });

  it('publishes what a service puts beside its own write, and nothing when that write fails', async () => {
    const { first, second, batches, arrived } = await startChain();
    const reminder = (key: string) => ({
      ...deadlineEnvelope({ messageType: 'CaseDeadlineSet', schemaVersion: 1, idempotencyKey: key }),
      messageId: key,
      payload: { caseId: 'CASE-123', deadlineAt: '2026-02-01T00:00:00Z' },
    });
    const openCase = (key: string) =>
      first.clients.dynamodb.send(
        new TransactWriteItemsCommand({
          TransactItems: [
            {
              Put: {
                TableName: first.names.tableName,
                Item: { PK: { S: 'OPENED#CASE-123' }, SK: { S: 'META' } },
                ConditionExpression: 'attribute_not_exists(PK)',
              },
            },
            outboxItem(reminder(key), { tableName: first.names.tableName, now: new Date(first.clock.now()) }),
          ],
        }),
      );

    await openCase('opened-1');
    await expect(openCase('opened-2')).rejects.toMatchObject({ name: 'TransactionCanceledException' });
    await arrived('opened-1');

    expect(batches).toEqual([1]);
    expect(await second.inbox('opened-1')).toMatchObject({ status: 'COMPLETED' });
    expect(await second.inbox('opened-2')).toBeUndefined();
  });
});
