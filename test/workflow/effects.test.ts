import { RedriveExecutionCommand } from '@aws-sdk/client-sfn';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { createEffectLog } from '../../lambdas/aws/effect-log.ts';
import { resolveEffect } from '../../lambdas/aws/effect-resolution.ts';
import { listAttention } from '../../lambdas/aws/quarantine.ts';
import type { WireEffect } from '../../lambdas/core/decision.ts';
import { defineMessage, type EffectRequest, type Plan } from '../../lambdas/core/message-type.ts';
import { SILENT } from '../../lambdas/core/telemetry.ts';
import { createLedger, ledgerProvider } from '../helpers/providers.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

const KEY = 'order:1:pay';

function orderType(plan: (effects: Readonly<Record<string, unknown>>) => Plan) {
  return defineMessage({
    type: 'OrderPaid',
    schemas: { 1: v.object({ amount: v.number() }) },
    ordering: 'none',
    plan: ({ effects }) => plan(effects),
  });
}

function order(overrides: Record<string, unknown> = {}) {
  return {
    messageId: 'm-1',
    schemaVersion: 1,
    messageType: 'OrderPaid',
    producer: 'shop',
    occurredAt: '2026-01-01T00:00:00Z',
    idempotencyKey: KEY,
    aggregateType: 'order',
    aggregateId: '1',
    payload: { amount: 10 },
    ...overrides,
  };
}

const charge = (name: string, amount = 10): EffectRequest => ({
  name,
  provider: 'Bank',
  operation: 'charge',
  request: { amount },
});

const charging = (...names: string[]) =>
  orderType((effects) => ({
    effects: names.map((name) => charge(name)),
    set: { paid: names.every((name) => effects[name] !== undefined) },
  }));

describe('effects', () => {
  it('happen before the commit, once, and reach the plan', async () => {
    const ledger = createLedger();
    const worker = await startWorker({
      messages: [charging('capture', 'receipt')],
      providers: [ledgerProvider('Bank', 'idempotent', ledger)],
    });

    await worker.send(order());
    await worker.untilIdle();

    expect(await worker.execution(KEY)).toMatchObject({ status: 'SUCCEEDED' });
    expect(ledger.done).toEqual([`${KEY}#capture`, `${KEY}#receipt`]);
    expect(await worker.aggregate('order', '1')).toMatchObject({ paid: true });
  });

  it('are tried again under the same key when an answer of an idempotent provider was lost', async () => {
    const ledger = createLedger(['lostAfter']);
    const worker = await startWorker({
      messages: [charging('capture')],
      providers: [ledgerProvider('Bank', 'idempotent', ledger)],
    });

    await worker.send(order());
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED' });
    expect(ledger.calls).toEqual([`${KEY}#capture`, `${KEY}#capture`]);
    expect(ledger.done).toEqual([`${KEY}#capture`]);
  });

  it('are asked about, not repeated, when the provider has a lookup', async () => {
    const ledger = createLedger(['lostAfter']);
    const worker = await startWorker({
      messages: [charging('capture')],
      providers: [ledgerProvider('Bank', 'lookup', ledger)],
    });

    await worker.send(order());
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED' });
    expect(ledger.calls).toHaveLength(1);
  });

  it('end the message under the provider’s code when it refuses', async () => {
    const ledger = createLedger(['refused']);
    const worker = await startWorker({
      messages: [charging('capture')],
      providers: [ledgerProvider('Bank', 'idempotent', ledger)],
    });

    await worker.send(order());
    await worker.untilIdle();

    expect(await worker.execution(KEY)).toMatchObject({ status: 'FAILED', error: 'REFUSED' });
    expect(ledger.done).toEqual([]);
  });

  it('are replaced by their fallback, marked degraded, when attempts run out', async () => {
    const ledger = createLedger();
    ledger.always = 'throttled';
    const type = orderType((effects) => ({
      effects: [{ ...charge('capture'), fallback: { amount: 0 } }],
      set: { answer: JSON.stringify(effects.capture) ?? '' },
    }));
    const worker = await startWorker({
      messages: [type],
      providers: [ledgerProvider('Bank', 'idempotent', ledger)],
    });

    await worker.send(order());
    await worker.untilIdle();

    expect(await worker.aggregate('order', '1')).toMatchObject({
      answer: JSON.stringify({ response: { amount: 0 }, degraded: true }),
    });
    expect(ledger.calls).toHaveLength(5);
  });

  it('are called once when a fix reorders them between the failure and the redrive', async () => {
    const ledger = createLedger();
    const broken = orderType((effects) => {
      if (effects.first !== undefined) throw new TypeError('a bug');
      return { effects: [charge('first'), charge('second')] };
    });
    const worker = await startWorker({
      messages: [broken],
      providers: [ledgerProvider('Bank', 'neither', ledger)],
    });
    await worker.send(order());
    await worker.untilIdle();
    const { arn, status } = await worker.execution(KEY);
    expect(status).toBe('FAILED');

    worker.deploy([charging('third', 'second', 'first')]);
    await worker.clients.sfn.send(new RedriveExecutionCommand({ executionArn: arn }));
    await worker.untilIdle();

    expect((await worker.execution(KEY)).status).toBe('SUCCEEDED');
    expect([...ledger.calls].sort()).toEqual([`${KEY}#first`, `${KEY}#second`, `${KEY}#third`]);
  });

  it('end in EFFECT_HASH_MISMATCH when a fix changes a request that was carried out; keep is the way out', async () => {
    const ledger = createLedger();
    const broken = orderType((effects) => {
      if (effects.capture !== undefined) throw new TypeError('a bug');
      return { effects: [charge('capture', 10)] };
    });
    const worker = await startWorker({
      messages: [broken],
      providers: [ledgerProvider('Bank', 'neither', ledger)],
    });
    await worker.send(order());
    await worker.untilIdle();
    const { arn } = await worker.execution(KEY);

    worker.deploy([orderType(() => ({ effects: [charge('capture', 20)] }))]);
    await worker.clients.sfn.send(new RedriveExecutionCommand({ executionArn: arn }));
    await worker.untilIdle();
    expect(await worker.execution(KEY)).toMatchObject({ status: 'FAILED', error: 'EFFECT_HASH_MISMATCH' });

    worker.deploy([
      orderType(() => ({
        effects: [{ ...charge('capture', 20), onRequestChange: 'keep' }],
        set: { paid: true },
      })),
    ]);
    await worker.clients.sfn.send(new RedriveExecutionCommand({ executionArn: arn }));
    await worker.untilIdle();

    expect((await worker.execution(KEY)).status).toBe('SUCCEEDED');
    expect(ledger.calls).toEqual([`${KEY}#capture`]);
  });
});

describe('an effect in doubt', () => {
  const keeping = orderType(() => ({
    effects: [{ ...charge('capture'), onRequestChange: 'keep' }],
    set: { paid: true },
  }));

  async function inDoubt(type = charging('capture')) {
    const ledger = createLedger(['lostAfter']);
    const metrics: string[] = [];
    const worker = await startWorker({
      messages: [type],
      providers: [ledgerProvider('Bank', 'neither', ledger)],
      telemetry: { ...SILENT, metric: (name) => metrics.push(name) },
    });
    await worker.send(order());
    const row = () => worker.row({ PK: `EFFECT#${KEY}#capture`, SK: 'LOG' });
    await worker.until(async () => (await row())?.status === 'IN_DOUBT');
    const deps = () => ({
      dynamodb: worker.clients.dynamodb,
      sfn: worker.clients.sfn,
      tableName: worker.names.tableName,
      at: new Date(worker.clock.now()).toISOString(),
    });
    return {
      worker,
      ledger,
      row,
      deps,
      alarms: () => metrics.filter((name) => name === 'EffectsInDoubt').length,
    };
  }

  it('waits for a person and is listed, and a day without an answer calls nobody but tells again', async () => {
    const { worker, ledger, alarms } = await inDoubt();
    const day = new Date(worker.clock.now()).toISOString().slice(0, 10);
    const start = worker.clock.now();

    await worker.until(() => alarms() === 2);

    expect(worker.clock.now() - start).toBeGreaterThanOrEqual(24 * 3_600_000);
    expect(ledger.calls).toHaveLength(1);
    expect((await worker.execution(KEY)).status).toBe('RUNNING');
    const listed = await listAttention(worker.clients.dynamodb, worker.names.tableName, 'IN_DOUBT', day);
    expect(listed).toHaveLength(1);
  });

  it('goes on with the reference that the person found', async () => {
    const { worker, ledger, deps } = await inDoubt();

    const done = await resolveEffect(
      `${KEY}#capture`,
      { verdict: 'completed', reference: 'bank-77' },
      deps(),
    );
    await worker.untilIdle();

    expect(done).toEqual({ resolved: true, woken: 1 });
    expect((await worker.execution(KEY)).status).toBe('SUCCEEDED');
    expect(ledger.calls).toHaveLength(1);
  });

  it('is carried out again, under another key, when it has not happened', async () => {
    const { worker, ledger, deps } = await inDoubt();

    await resolveEffect(`${KEY}#capture`, { verdict: 'notDone' }, deps());
    await worker.untilIdle();

    expect((await worker.execution(KEY)).status).toBe('SUCCEEDED');
    expect(ledger.calls).toEqual([`${KEY}#capture`, `${KEY}#capture~2`]);
  });

  it('fails the message under the person’s code', async () => {
    const { worker, ledger, deps } = await inDoubt();

    await resolveEffect(`${KEY}#capture`, { verdict: 'failed', code: 'CARD_STOLEN' }, deps());
    await worker.untilIdle();

    expect(await worker.execution(KEY)).toMatchObject({ status: 'FAILED', error: 'CARD_STOLEN' });
    expect(ledger.calls).toHaveLength(1);
  });

  /** The answer of a call that was taken for dead. */
  async function answerComes(worker: TestWorker) {
    const log = createEffectLog(worker.clients.dynamodb, {
      tableName: worker.names.tableName,
      ttlSeconds: 1000,
    });
    const effect: WireEffect = {
      name: 'capture',
      provider: 'Bank',
      operation: 'charge',
      request: { amount: 10 },
      key: `${KEY}#capture`,
      requestHash: 'a'.repeat(64),
      onRequestChange: 'keep',
      idempotencyKey: KEY,
    };
    const at = new Date(worker.clock.now()).toISOString();
    await log.complete(effect, { ...effect, generation: 1, tries: 1 }, 'late', { reference: 'late', at });
  }

  it('is settled by an answer that comes after all, which who waits finds when the wait ends', async () => {
    const { worker, ledger } = await inDoubt(keeping);
    await worker.until(async () => (await worker.execution(KEY)).states.includes('AwaitResolution'));
    await answerComes(worker);

    await worker.untilIdle(25 * 3_600_000);

    expect((await worker.execution(KEY)).status).toBe('SUCCEEDED');
    expect(ledger.calls).toHaveLength(1);
  });

  it('that was settled so is left as it is by a resolution, which wakes who waits', async () => {
    const { worker, row, deps } = await inDoubt(keeping);
    await worker.until(async () => (await worker.execution(KEY)).states.includes('AwaitResolution'));
    await answerComes(worker);

    const done = await resolveEffect(`${KEY}#capture`, { verdict: 'notDone' }, deps());
    await worker.untilIdle(3_600_000);

    expect(done).toEqual({ resolved: false, woken: 1 });
    expect(await row()).toMatchObject({ status: 'COMPLETED', providerReference: 'late' });
    expect((await worker.execution(KEY)).status).toBe('SUCCEEDED');
  });

  it('is resolved once', async () => {
    const { deps } = await inDoubt();

    await resolveEffect(`${KEY}#capture`, { verdict: 'completed', reference: 'bank-77' }, deps());
    const again = await resolveEffect(`${KEY}#capture`, { verdict: 'notDone' }, deps());

    expect(again).toEqual({ resolved: false, woken: 0 });
  });
});
