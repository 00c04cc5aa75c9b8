import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { redrive } from '../../cli/commands/dlq.ts';
import { send } from '../../cli/commands/send.ts';
import type { LogFields, Telemetry } from '../../lambdas/core/telemetry.ts';
import { deadlineEnvelope } from '../helpers/envelopes.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';
import { targetOf, testIo } from '../unit/cli/cli-io.ts';

/** The tenant and the cause of every line about a message. */
function recorder() {
  const lines: { message: string; tenantId: unknown; correlationId: unknown }[] = [];
  const keep = (message: string, { tenantId, correlationId }: LogFields) =>
    void lines.push({ message, tenantId, correlationId });
  const telemetry: Telemetry = { info: keep, warn: keep, error: keep, metric() {}, flush() {} };
  return { lines, telemetry };
}

async function groupIn({ clients }: TestWorker, queueUrl: string): Promise<string | undefined> {
  const { Messages } = await clients.sqs.send(
    new ReceiveMessageCommand({ QueueUrl: queueUrl, MessageSystemAttributeNames: ['All'] }),
  );
  return Messages?.[0]?.Attributes?.MessageGroupId;
}

const messageOf = (tenantId: string, overrides: Record<string, unknown> = {}) =>
  deadlineEnvelope({
    tenantId,
    correlationId: `cause-${tenantId}`,
    idempotencyKey: `deadline:${tenantId}`,
    aggregateId: `CASE-${tenantId}`,
    ...overrides,
  });

describe('tenantId', () => {
  it('stands in every line of its own message, and in no other’s, whichever batch they came in', async () => {
    const { lines, telemetry } = recorder();
    const worker = await startWorker({ telemetry });

    await worker.send(messageOf('ana'));
    await worker.send(messageOf('ben', { payload: { ...deadlineEnvelope().payload, stage: 'UNKNOWN' } }));
    await worker.untilIdle();

    const linesOf = (tenant: string) =>
      lines.filter(({ tenantId }) => tenantId === tenant).map(({ message }) => message);
    expect(linesOf('ana')).toEqual(['message_started', 'message_planned', 'worker_message_completed']);
    expect(linesOf('ben')).toEqual(['message_started', 'message_planned', 'message_failed']);
    expect(lines.every(({ tenantId, correlationId }) => correlationId === `cause-${tenantId}`)).toBe(true);
    expect(lines).toHaveLength(6);
  });

  it.each([
    ['the group by which a standard queue is fair', 'ana', 'ana'],
    ['no group where SQS takes it for none', 'übung', undefined],
  ])('is %s, when the command line sends', async (_what, tenantId, group) => {
    const worker = await startWorker();
    // A queue that no worker reads.
    const names = { ...worker.names, queueUrl: worker.names.dlqUrl };
    const io = testIo({ readInput: async () => JSON.stringify(messageOf(tenantId)) });

    await send('-', { raw: false, json: false }, { ...targetOf(worker), names }, io);

    expect(await groupIn(worker, worker.names.dlqUrl)).toBe(group);
  });

  it('stays the group when a dead letter is sent back', async () => {
    const worker = await startWorker();
    const names = { ...worker.names, queueUrl: worker.names.quarantineQueueUrl };
    await worker.clients.sqs.send(
      new SendMessageCommand({
        QueueUrl: worker.names.dlqUrl,
        MessageBody: JSON.stringify(messageOf('ana')),
        MessageGroupId: 'ana',
      }),
    );

    await redrive({ sample: 1, json: false }, { ...targetOf(worker), names }, testIo());

    expect(await groupIn(worker, worker.names.quarantineQueueUrl)).toBe('ana');
  });

  it('is in the inbox row, and goes on with the events', async () => {
    const worker = await startWorker();

    await worker.send(messageOf('ana'), { groupId: 'ana' });
    await worker.untilIdle();

    expect(await worker.inbox('deadline:ana')).toMatchObject({ tenantId: 'ana' });
    const execution = await worker.execution('deadline:ana');
    expect(JSON.stringify(worker.stepFunctions.history(execution.arn))).toContain('\\"tenantId\\":\\"ana\\"');
  });
});
