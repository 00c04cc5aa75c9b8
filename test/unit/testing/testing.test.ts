import * as v from 'valibot';
import { describe, expect, it, onTestFinished } from 'vitest';
import { defineMessage, defineProvider, RetryableFailure, TerminalFailure } from '../../../lambdas/index.ts';
import { caseDeadline } from '../../../lambdas/messages/case-deadline.ts';
import { startLocal, testPlan } from '../../../local/testing/index.ts';
import { deadlineEnvelope } from '../../helpers/envelopes.ts';

const { payload } = deadlineEnvelope();

describe('testPlan', () => {
  it('gives the plan of a handler', async () => {
    const plan = await testPlan(caseDeadline, { payload });

    expect(plan.set).toMatchObject({ deadlineStage: 'INVESTIGATION' });
  });

  it('validates the payload and lifts an older one', async () => {
    await expect(testPlan(caseDeadline, { payload: { caseId: 1 } })).rejects.toMatchObject({
      code: 'INVALID_PAYLOAD',
    });
    const { calendarDays: _, ...older } = payload;
    await expect(testPlan(caseDeadline, { payload: older, schemaVersion: 1 })).resolves.toBeDefined();
  });

  it('throws what the handler throws', async () => {
    await expect(testPlan(caseDeadline, { payload: { ...payload, stage: 'X' } })).rejects.toThrow(
      TerminalFailure,
    );
  });

  it('shows the handler aggregate, effects, reads, envelope and time, and checks the plan', async () => {
    const echo = defineMessage({
      type: 'Echo',
      schemas: { 1: v.object({ bad: v.optional(v.boolean()) }) },
      ordering: 'none',
      plan: (input) => {
        if (input.payload.bad) return { set: { revision: 1 } };
        return {
          set: {
            seen: String(input.aggregate?.attributes.name),
            paid: input.effects.pay?.reference,
            rate: Number(input.reads[0]?.rate),
            tenant: input.envelope.tenantId,
            at: input.now,
          },
        };
      },
    });

    const plan = await testPlan(echo, {
      payload: {},
      aggregate: { name: 'n' },
      effects: { pay: { reference: 'ch_1' } },
      reads: [{ rate: 3 }],
      envelope: { tenantId: 'ana' },
      now: new Date(0),
    });

    expect(plan.set).toEqual({ seen: 'n', paid: 'ch_1', rate: 3, tenant: 'ana', at: new Date(0) });
    await expect(testPlan(echo, { payload: { bad: true } })).rejects.toMatchObject({ code: 'PLAN_INVALID' });
  });
});

describe('startLocal', () => {
  it('runs a whole worker, events and all', async () => {
    const worker = await startLocal({ messages: [caseDeadline] });
    onTestFinished(() => worker.stop());

    await worker.send(deadlineEnvelope());
    await worker.untilIdle();

    expect(await worker.inbox('case:CASE-123:deadline:v4')).toMatchObject({ status: 'COMPLETED' });
    expect(await worker.aggregate('case', 'CASE-123')).toMatchObject({ deadlineStage: 'INVESTIGATION' });
    expect(await worker.events()).toMatchObject([{ messageType: 'CaseDeadlineSet' }]);
    expect(await worker.execution('case:CASE-123:deadline:v4')).toEqual({
      status: 'SUCCEEDED',
      error: undefined,
    });
  });

  it('lets hours of back-off pass at once', async () => {
    const never = defineMessage({
      type: 'Never',
      schemas: { 1: v.object({}) },
      ordering: 'none',
      attempts: { max: 3 },
      plan: () => {
        throw new RetryableFailure('NOT_YET', { retryAfterSeconds: 3_600 });
      },
    });
    const worker = await startLocal({ messages: [never], start: 0 });
    onTestFinished(() => worker.stop());

    await worker.send(deadlineEnvelope({ messageType: 'Never', schemaVersion: 1, payload: {} }));
    await worker.untilIdle();

    expect(worker.now()).toBeGreaterThanOrEqual(7_200_000);
    expect(await worker.execution('case:CASE-123:deadline:v4')).toEqual({
      status: 'FAILED',
      error: 'NOT_YET',
    });
    expect(await worker.rejected()).toEqual({ deadLetters: 0, quarantined: 1 });
  });

  it('carries out effects at the team’s providers', async () => {
    const bank = defineProvider<{ capture: { amount: number } }>({
      name: 'Bank',
      operations: {
        capture: {
          schema: v.object({ amount: v.number() }),
          idempotent: true,
          execute: async ({ request }) => ({ reference: `captured ${request.amount}` }),
          classify: () => ({ done: 'unknown', code: 'BANK_DOWN' }),
        },
      },
    });
    const paid = defineMessage({
      type: 'Paid',
      schemas: { 1: v.object({ amount: v.number() }) },
      ordering: 'none',
      plan: ({ payload, effects }) =>
        effects.capture === undefined
          ? { effects: [{ name: 'capture', provider: 'Bank', operation: 'capture', request: payload }] }
          : { set: { receipt: effects.capture.reference } },
    });
    const worker = await startLocal({ messages: [paid], providers: [bank] });
    onTestFinished(() => worker.stop());

    await worker.send(deadlineEnvelope({ messageType: 'Paid', schemaVersion: 1, payload: { amount: 7 } }));
    await worker.untilIdle();

    expect(await worker.aggregate('case', 'CASE-123')).toMatchObject({ receipt: 'captured 7' });
  });

  it('tells of messages that could not be read', async () => {
    const worker = await startLocal({ messages: [caseDeadline] });
    onTestFinished(() => worker.stop());

    await worker.send('{bad');
    await worker.untilIdle();

    expect(await worker.rejected()).toEqual({ deadLetters: 1, quarantined: 0 });
    expect(await worker.execution('unknown')).toBeUndefined();
  });
});
