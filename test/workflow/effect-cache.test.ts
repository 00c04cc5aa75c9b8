import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { listCache, purgeCache } from '../../lambdas/aws/effect-resolution.ts';
import { defineMessage } from '../../lambdas/core/message-type.ts';
import { createLedger, ledgerProvider } from '../helpers/providers.ts';
import { startWorker } from '../helpers/worker.ts';

/** A type whose messages all ask the same, under a version of the cache. */
const question = (version = 1) =>
  defineMessage({
    type: 'QuestionAsked',
    schemas: { 1: v.object({}) },
    ordering: 'none',
    plan: ({ effects }) => ({
      effects: [
        {
          name: 'answer',
          provider: 'Model',
          operation: 'charge',
          request: { amount: 1 },
          cache: { key: 'question-1', ttlSeconds: 3600, version },
        },
      ],
      set: { answered: effects.answer !== undefined },
    }),
  });

const ask = (number: number) => ({
  messageId: `q${number}`,
  schemaVersion: 1,
  messageType: 'QuestionAsked',
  producer: 'shop',
  occurredAt: '2026-01-01T00:00:00Z',
  idempotencyKey: `q:${number}`,
  aggregateType: 'question',
  aggregateId: `${number}`,
  payload: {},
});

describe('cached effects', () => {
  it('are asked anew after a purge and under a newer version', async () => {
    const ledger = createLedger();
    const worker = await startWorker({
      messages: [question()],
      providers: [ledgerProvider('Model', 'harmless', ledger)],
    });
    const { dynamodb } = worker.clients;
    await worker.send(ask(1));
    await worker.untilIdle();
    expect(await listCache(dynamodb, worker.names.tableName, 10)).toMatchObject([{ key: 'question-1' }]);

    const at = new Date(worker.clock.now()).toISOString();
    expect(await purgeCache(dynamodb, worker.names.tableName, 'question-1', at)).toBe(true);
    await worker.send(ask(2));
    await worker.untilIdle();
    worker.deploy([question(2)]);
    await worker.send(ask(3));
    await worker.untilIdle();

    expect(ledger.calls).toHaveLength(3);
  });

  it('lose nothing while the model is throttled for ten minutes, and space their calls', async () => {
    const ledger = createLedger();
    ledger.always = 'throttled';
    const worker = await startWorker({
      messages: [
        defineMessage({
          type: 'QuestionAsked',
          schemas: { 1: v.object({}) },
          ordering: 'none',
          attempts: { max: 100, baseSeconds: 2, capSeconds: 60 },
          plan: ({ envelope }) => ({
            effects: [
              {
                name: 'answer',
                provider: 'Model',
                operation: 'charge',
                request: { amount: 1 },
                cache: { key: envelope.idempotencyKey, ttlSeconds: 3600 },
              },
            ],
            set: { answered: true },
          }),
        }),
      ],
      providers: [ledgerProvider('Model', 'harmless', ledger, () => worker.clock.now())],
    });
    const start = worker.clock.now();
    for (let number = 0; number < 10; number += 1) await worker.send(ask(number));
    await worker.until(() => worker.clock.now() >= start + 600_000);

    ledger.always = undefined;
    await worker.untilIdle();

    expect(await worker.executions('SUCCEEDED')).toBe(10);
    expect(await worker.depth(worker.names.dlqUrl)).toBe(0);
    expect(new Set(ledger.times).size).toBeGreaterThan(50);
  });
});
