import { StartExecutionCommand } from '@aws-sdk/client-sfn';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { EffectRequest } from '../../lambdas/core/message-type.ts';
import { defineProvider } from '../../lambdas/core/provider.ts';
import { SILENT } from '../../lambdas/core/telemetry.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { createLedger, type Ledger, ledgerProvider } from '../helpers/providers.ts';
import { startWorker } from '../helpers/worker.ts';

const KEY = 'probe:1';

const ask: EffectRequest = { name: 'ask', provider: 'Bank', operation: 'charge', request: { amount: 1 } };
const FALLBACK = { response: 'a makeshift', degraded: true };

/** Asks for one effect and writes down what became of it. */
const asking = (effect: Partial<EffectRequest>) =>
  probe(({ effects }) => ({
    effects: [{ ...ask, ...effect }],
    set: { answer: JSON.stringify(effects.ask) ?? '' },
  }));

async function runWith(ledger: Ledger, effect: Partial<EffectRequest>, envelope = {}) {
  const worker = await startWorker({
    messages: [asking(effect)],
    providers: [ledgerProvider('Bank', 'idempotent', ledger, () => worker.clock.now())],
  });
  await worker.send(probeEnvelope(envelope));
  await worker.untilIdle();
  return worker;
}

function throttledLedger(): Ledger {
  const ledger = createLedger();
  ledger.always = 'throttled';
  return ledger;
}

describe("an effect's fallback", () => {
  it.each([
    ['the failure is one after which no further attempt is made', { terminalAfterCodes: ['THROTTLED'] }],
    ['the next attempt may come after retryableUntil', { retryableUntil: '2026-01-01T00:00:20Z' }],
    ['the only attempt is used up', { maxBusinessAttempts: 1 }],
  ])('stands in when %s', async (_when, attemptPolicy) => {
    const ledger = throttledLedger();

    const worker = await runWith(ledger, { fallback: 'a makeshift' }, { attemptPolicy });

    expect((await worker.execution(KEY)).status).toBe('SUCCEEDED');
    expect(await worker.aggregate('probe', '1')).toMatchObject({ answer: JSON.stringify(FALLBACK) });
    expect(ledger.calls).toHaveLength(1);
  });

  it('stands in at once when the provider refuses for good', async () => {
    const ledger = createLedger(['refused']);

    const worker = await runWith(ledger, { fallback: 'a makeshift' });

    expect(await worker.aggregate('probe', '1')).toMatchObject({ answer: JSON.stringify(FALLBACK) });
    expect(ledger.calls).toHaveLength(1);
  });

  it('waits while a further attempt fits into the window', async () => {
    const ledger = createLedger(['throttled']);
    const attemptPolicy = { retryableUntil: '2026-01-01T01:00:00Z' };

    const worker = await runWith(ledger, { fallback: 'a makeshift' }, { attemptPolicy });

    expect(await worker.aggregate('probe', '1')).toMatchObject({ answer: expect.stringContaining('ref-') });
    expect(ledger.calls).toHaveLength(2);
  });
});

describe("an effect's own retry policy", () => {
  it('ends the message when its attempts are used up, though the message has more', async () => {
    const ledger = throttledLedger();

    const worker = await runWith(ledger, { attempts: { max: 2 } });

    expect(await worker.execution(KEY)).toMatchObject({ status: 'FAILED', error: 'THROTTLED' });
    expect(ledger.calls).toHaveLength(2);
  });

  it('brings its fallback when its attempts are used up', async () => {
    const ledger = throttledLedger();

    const worker = await runWith(ledger, { attempts: { max: 2 }, fallback: 'a makeshift' });

    expect(await worker.aggregate('probe', '1')).toMatchObject({ answer: JSON.stringify(FALLBACK) });
    expect(ledger.calls).toHaveLength(2);
  });

  it('is its own: another effect of the plan goes by the message', async () => {
    const ledger = throttledLedger();
    const attempts = { max: 3 };
    const worker = await startWorker({
      messages: [
        probe(
          () => ({
            parallel: true,
            effects: [
              { ...ask, name: 'first', attempts: { max: 2 }, fallback: 1 },
              { ...ask, name: 'second', fallback: 2 },
            ],
          }),
          { attempts },
        ),
      ],
      providers: [ledgerProvider('Bank', 'idempotent', ledger)],
    });

    await worker.send(probeEnvelope());
    await worker.untilIdle();

    const callsOf = (name: string) => ledger.calls.filter((key) => key.startsWith(`${KEY}#${name}`));
    expect((await worker.execution(KEY)).status).toBe('SUCCEEDED');
    expect(callsOf('second')).toHaveLength(3);
    expect(callsOf('first')).toHaveLength(2);
  });
});

describe('the effects of one plan', () => {
  it.each([
    { parallel: true, most: 3 },
    { parallel: false, most: 1 },
  ])('are $most at a time with parallel: $parallel', async ({ parallel, most }) => {
    let running = 0;
    const seen: number[] = [];
    const provider = defineProvider({
      name: 'Bank',
      operations: ({ clock }) => ({
        charge: {
          schema: v.unknown(),
          idempotent: true,
          async execute() {
            running += 1;
            seen.push(running);
            await clock.sleep(1000);
            running -= 1;
            return {};
          },
          classify: () => ({ done: 'unknown', code: 'LOST' }),
        },
      }),
    });
    const names = ['first', 'second', 'third'];
    const type = probe(() => ({
      parallel,
      effects: names.map((name) => ({ ...ask, name })),
      set: { value: 1 },
    }));
    const worker = await startWorker({ messages: [type], providers: [provider] });

    await worker.send(probeEnvelope());
    await worker.untilIdle();

    expect((await worker.execution(KEY)).status).toBe('SUCCEEDED');
    expect(seen).toHaveLength(3);
    expect(Math.max(...seen)).toBe(most);
  });
});

describe('a response above 64 KB', () => {
  it('reaches the plan through the payload bucket', async () => {
    const text = 'é'.repeat(60_000);
    const provider = defineProvider({
      name: 'Bank',
      operations: {
        charge: {
          schema: v.unknown(),
          idempotent: true,
          execute: async () => ({ reference: 'large', response: { text } }),
          classify: () => ({ done: 'unknown', code: 'LOST' }),
        },
      },
    });
    const seen: unknown[] = [];
    const type = probe(({ effects }) => {
      if (effects.ask !== undefined) seen.push(effects.ask.response);
      return { effects: [ask], set: { value: 1 } };
    });
    const worker = await startWorker({ messages: [type], providers: [provider] });

    await worker.send(probeEnvelope());
    await worker.untilIdle();

    expect((await worker.execution(KEY)).status).toBe('SUCCEEDED');
    expect(seen).toEqual([{ text }]);
    const row = await worker.row({ PK: `EFFECT#${KEY}#ask`, SK: 'LOG' });
    expect(row).toMatchObject({ responseRef: { bucket: worker.names.payloadBucket } });
    expect(row).not.toHaveProperty('response');
  });
});

describe('one effect that several executions ask for', () => {
  it('is called once when two start with the same input at the same instant', async () => {
    const ledger = createLedger();
    const worker = await startWorker({
      messages: [asking({})],
      providers: [ledgerProvider('Bank', 'neither', ledger)],
    });
    await worker.send(probeEnvelope({ attemptPolicy: { notBefore: '2026-01-01T00:10:00Z' } }));
    await worker.until(async () => (await worker.executions('RUNNING')) === 1);
    const { arn } = await worker.execution(KEY);
    const { input } = worker.stepFunctions.history(arn)?.[0]?.details ?? {};
    await worker.clients.sfn.send(
      new StartExecutionCommand({
        stateMachineArn: worker.names.stateMachineArn,
        name: 'by-hand',
        input: String(input),
      }),
    );
    await worker.untilIdle();

    expect(await worker.executions('SUCCEEDED')).toBe(2);
    expect(ledger.calls).toEqual([`${KEY}#ask`]);
    expect(await worker.aggregate('probe', '1')).toMatchObject({ revision: 1 });
  });

  it('counts ninety-nine hits and one call for a hundred equal questions at once', async () => {
    const counted = new Map<string, number>();
    const ledger = createLedger();
    const worker = await startWorker({
      messages: [asking({ cache: { key: 'question', ttlSeconds: 3600 } })],
      providers: [ledgerProvider('Bank', 'harmless', ledger)],
      telemetry: {
        ...SILENT,
        metric: (name, value) => counted.set(name, (counted.get(name) ?? 0) + value),
      },
    });
    const numbers = Array.from({ length: 100 }, (_, index) => `${index}`);

    await Promise.all(
      numbers.map((id) => worker.send(probeEnvelope({ idempotencyKey: `q:${id}`, aggregateId: id }))),
    );
    await worker.untilIdle();

    expect(await worker.executions('SUCCEEDED')).toBe(100);
    expect(counted.get('EffectCalls')).toBe(1);
    expect(counted.get('EffectCacheHits')).toBe(99);
    for (const id of ['0', '50', '99']) {
      expect(await worker.aggregate('probe', id)).toMatchObject({ answer: expect.stringContaining('ref-') });
    }
  });
});

describe('an answer that rests on data', () => {
  const BASIS = { PK: 'ANSWERBASIS#1', SK: 'META' };

  it('is void from the commit of the message that changes the data', async () => {
    const ledger = createLedger();
    const changed = probe(
      ({ envelope }) => ({ writes: [{ key: BASIS, set: { version: Date.parse(envelope.occurredAt) } }] }),
      { type: 'DataChanged' },
    );
    const question = probe(
      ({ reads }) => ({
        effects: [
          { ...ask, cache: { key: 'question', ttlSeconds: 3600, version: Number(reads[0]?.version ?? 0) } },
        ],
        set: { value: 1 },
      }),
      { reads: () => [BASIS] },
    );
    const worker = await startWorker({
      messages: [changed, question],
      providers: [ledgerProvider('Bank', 'harmless', ledger)],
    });
    const send = async (overrides: Record<string, unknown>) => {
      await worker.send(probeEnvelope(overrides));
      await worker.untilIdle();
    };

    await send({ idempotencyKey: 'q:1' });
    await send({ idempotencyKey: 'q:2', aggregateId: '2' });
    expect(ledger.calls).toHaveLength(1);
    await send({ idempotencyKey: 'd:1', aggregateId: '3', messageType: 'DataChanged' });
    await send({ idempotencyKey: 'q:3', aggregateId: '4' });
    await send({ idempotencyKey: 'q:4', aggregateId: '5' });

    expect(ledger.calls).toHaveLength(2);
    expect(await worker.executions('SUCCEEDED')).toBe(5);
  });
});
