import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { listShared, purge } from '../../../cli/commands/cache.ts';
import { listInDoubt } from '../../../cli/commands/effects.ts';
import { type ResolveOptions, resolve } from '../../../cli/commands/resolve-effect.ts';
import { createEffectLog } from '../../../lambdas/aws/effect-log.ts';
import { defineMessage, type EffectRequest } from '../../../lambdas/core/message-type.ts';
import { deadlineEnvelope } from '../../helpers/envelopes.ts';
import { createLedger, ledgerProvider } from '../../helpers/providers.ts';
import { startWorker } from '../../helpers/worker.ts';
import { targetOf, testIo } from './cli-io.ts';

const KEY = 'case:CASE-123:deadline:v4';
const EFFECT = `${KEY}#charge`;

const asking = (cache?: EffectRequest['cache']) =>
  defineMessage({
    type: 'CaseDeadlineCalculationRequested',
    schemas: { 2: v.looseObject({}) },
    ordering: 'none',
    plan: ({ effects }) => ({
      effects: [
        {
          name: 'charge',
          provider: 'Bank',
          operation: 'charge',
          request: { amount: 10 },
          ...(cache === undefined ? {} : { cache }),
        },
      ],
      set: {
        reference: effects.charge?.reference ?? '',
        response: JSON.stringify(effects.charge?.response) ?? '',
      },
    }),
  });

async function workerInDoubt() {
  const ledger = createLedger(['lostAfter']);
  const worker = await startWorker({
    messages: [asking()],
    providers: [ledgerProvider('Bank', 'neither', ledger)],
  });
  await worker.send(deadlineEnvelope());
  await worker.until(
    async () => (await worker.row({ PK: `EFFECT#${EFFECT}`, SK: 'LOG' }))?.status === 'IN_DOUBT',
  );
  return { worker, ledger };
}

async function workerWithAnswer() {
  const ledger = createLedger();
  const worker = await startWorker({
    messages: [asking({ key: 'question-1', ttlSeconds: 3600 })],
    providers: [ledgerProvider('Bank', 'harmless', ledger)],
  });
  await worker.send(deadlineEnvelope());
  await worker.untilIdle();
  return { worker, ledger };
}

describe('stepwell effects ls', () => {
  it('shows what came too late, as evidence', async () => {
    const { worker } = await workerInDoubt();
    const log = createEffectLog(worker.clients.dynamodb, {
      tableName: worker.names.tableName,
      ttlSeconds: 1000,
    });
    const request = { amount: 10 };
    await log.keepLate(
      {
        name: 'charge',
        provider: 'Bank',
        operation: 'charge',
        request,
        key: EFFECT,
        requestHash: '',
        onRequestChange: 'fail',
        idempotencyKey: KEY,
      },
      { owner: 'late', outcome: 'REFUSED', at: '2026-01-01T00:02:00.000Z' },
    );
    const io = testIo({ clock: worker.clock });

    expect(await listInDoubt({ since: '7d', json: true }, targetOf(worker), io)).toBe(0);

    expect(JSON.parse(io.lines.join(''))).toMatchObject([{ effect: EFFECT, late: 'REFUSED' }]);
  });
});

describe('stepwell effects resolve', () => {
  it('goes on with the reference and the answer that a person found', async () => {
    const { worker, ledger } = await workerInDoubt();
    const io = testIo();
    const options = { completed: true, reference: 'bank-77', response: '{"amount":10}', json: false };

    expect(await resolve(EFFECT, options, targetOf(worker), io)).toBe(0);
    await worker.untilIdle();

    expect(io.lines).toEqual([
      'Resolved: it has happened, and the message goes on. Executions that go on: 1',
    ]);
    expect(await worker.aggregate('case', 'CASE-123')).toMatchObject({
      reference: 'bank-77',
      response: '{"amount":10}',
    });
    expect(ledger.calls).toHaveLength(1);
  });

  it('has it carried out again when it has not happened', async () => {
    const { worker, ledger } = await workerInDoubt();
    const io = testIo();

    expect(await resolve(EFFECT, { notDone: true, json: true }, targetOf(worker), io)).toBe(0);
    await worker.untilIdle();

    expect(io.lines.map((line) => JSON.parse(line))).toEqual([
      { effect: EFFECT, verdict: 'notDone', resolved: true, woken: 1 },
    ]);
    expect(ledger.calls).toEqual([EFFECT, `${EFFECT}~2`]);
  });

  it("fails the message with the person's code", async () => {
    const { worker } = await workerInDoubt();

    expect(await resolve(EFFECT, { failed: 'CARD_STOLEN', json: false }, targetOf(worker), testIo())).toBe(0);
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toMatchObject({ status: 'FAILED_TERMINAL', failureCode: 'CARD_STOLEN' });
  });

  it('writes nothing the second time, says why and answers 1', async () => {
    const { worker } = await workerInDoubt();
    const io = testIo();
    const completed = { completed: true, reference: 'bank-77', json: false };
    await resolve(EFFECT, completed, targetOf(worker), testIo());

    expect(await resolve(EFFECT, { notDone: true, json: false }, targetOf(worker), io)).toBe(1);

    expect(io.notes).toEqual(['Nothing was written: the effect is not in doubt, it is COMPLETED']);
  });

  it('answers 3 when there is no such effect', async () => {
    const { worker } = await workerWithAnswer();

    expect(await resolve('other#charge', { notDone: true, json: false }, targetOf(worker), testIo())).toBe(3);
  });

  it.each<[string, Partial<ResolveOptions>, RegExp]>([
    ['no verdict', {}, /one of/],
    ['two verdicts', { completed: true, notDone: true }, /one of/],
    ['no reference', { completed: true }, /--reference/],
    ['a reference that the row does not hold', { completed: true, reference: 'r'.repeat(301) }, /300/],
    ['a reference of what has not happened', { notDone: true, reference: 'r' }, /belong to --completed/],
    ['an answer that is not JSON', { completed: true, reference: 'r', response: '{' }, /JSON/],
    ['a code with spaces', { failed: 'not a code' }, /--failed takes a code/],
  ])('does nothing with %s', async (_, options, message) => {
    const { worker } = await workerWithAnswer();

    await expect(resolve(EFFECT, { json: false, ...options }, targetOf(worker), testIo())).rejects.toThrow(
      message,
    );
  });
});

describe('stepwell cache', () => {
  it('lists the shared answers without the answers', async () => {
    const { worker } = await workerWithAnswer();
    const io = testIo();

    expect(await listShared({ max: 10, json: true }, targetOf(worker), io)).toBe(0);

    expect(JSON.parse(io.lines[0] ?? '')).toEqual([
      { key: 'question-1', status: 'COMPLETED', provider: 'Bank', expiresAt: expect.any(String) },
    ]);
  });

  it('says so when there are none', async () => {
    const worker = await startWorker();
    const io = testIo();

    expect(await listShared({ max: 10, json: false }, targetOf(worker), io)).toBe(0);

    expect(io.lines).toEqual(['No answer is shared.']);
  });

  it('has the provider asked anew after a purge', async () => {
    const { worker, ledger } = await workerWithAnswer();
    const io = testIo({ clock: worker.clock });

    expect(await purge('question-1', false, targetOf(worker), io)).toBe(0);
    await worker.send(deadlineEnvelope({ idempotencyKey: 'other', messageId: 'other' }));
    await worker.untilIdle();

    expect(io.lines).toEqual(['Void from now on: question-1']);
    expect(ledger.calls).toHaveLength(2);
  });

  it('answers 3 when there is nothing to purge', async () => {
    const { worker } = await workerWithAnswer();

    expect(await purge('question-2', false, targetOf(worker), testIo())).toBe(3);
  });
});
