import { describe, expect, it } from 'vitest';
import type { LogFields, Telemetry } from '../../lambdas/core/telemetry.ts';
import { deadlineEnvelope } from '../helpers/envelopes.ts';
import { startWorker } from '../helpers/worker.ts';

/** The tenant and the cause of every line about a message. */
function recorder() {
  const lines: { message: string; tenantId: unknown; correlationId: unknown }[] = [];
  const keep = (message: string, { tenantId, correlationId }: LogFields) =>
    void lines.push({ message, tenantId, correlationId });
  const telemetry: Telemetry = { info: keep, warn: keep, error: keep, metric() {}, flush() {} };
  return { lines, telemetry };
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

  it('is in the inbox row, and goes on with the events', async () => {
    const worker = await startWorker();

    await worker.send(messageOf('ana'), { groupId: 'ana' });
    await worker.untilIdle();

    expect(await worker.inbox('deadline:ana')).toMatchObject({ tenantId: 'ana' });
    const execution = await worker.execution('deadline:ana');
    expect(JSON.stringify(worker.stepFunctions.history(execution.arn))).toContain('\\"tenantId\\":\\"ana\\"');
  });
});
