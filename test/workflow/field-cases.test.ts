import { describe, expect, it } from 'vitest';
import { RetryableFailure } from '../../lambdas/core/errors.ts';
import type { LogFields, Telemetry } from '../../lambdas/core/telemetry.ts';
import type { Fault } from '../../local/edge/faults.ts';
import { allRows, expectInvariants } from '../helpers/invariants.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { receiveAll } from '../helpers/queue.ts';
import { startWorker } from '../helpers/worker.ts';

const KEY = 'probe:1';
const applies = probe(({ payload }) => ({ set: { value: Number(payload.value) } }));

/** Keeps what is logged and counted. */
function captured() {
  const lines: { message: string; fields: LogFields }[] = [];
  const metrics: { name: string; value: number; dimensions: Readonly<Record<string, string>> | undefined }[] =
    [];
  const line = (message: string, fields: LogFields) => lines.push({ message, fields });
  const telemetry: Telemetry = {
    info: line,
    warn: line,
    error: line,
    metric: (name, value, dimensions) => metrics.push({ name, value, dimensions }),
    flush() {},
  };
  return { telemetry, lines, metrics };
}

describe('a batch', () => {
  it('starts its good records when one is unreadable', async () => {
    const worker = await startWorker({ messages: [applies], maxConcurrency: 2 });

    await worker.send(probeEnvelope());
    await worker.send('{bad');
    await worker.send(probeEnvelope({ idempotencyKey: 'probe:2' }));
    await worker.untilIdle();

    await expectInvariants(worker, { keys: [KEY, 'probe:2'] });
    expect(await worker.inbox(KEY)).toMatchObject({ receiveCount: 1 });
    expect(await worker.depth(worker.names.dlqUrl)).toBe(1);
  });

  it('keeps the correlation id of each record in its execution and its lines', async () => {
    const { telemetry, lines } = captured();
    const worker = await startWorker({ messages: [applies], telemetry });

    for (const id of ['a', 'b']) {
      await worker.send(
        probeEnvelope({ idempotencyKey: `key-${id}`, aggregateId: id, correlationId: `correlation-${id}` }),
      );
    }
    await worker.untilIdle();

    for (const id of ['a', 'b']) {
      const { arn } = await worker.execution(`key-${id}`);
      const input = String(worker.stepFunctions.history(arn)?.[0]?.details?.input);
      expect(JSON.parse(input)).toMatchObject({ envelope: { correlationId: `correlation-${id}` } });
      const own = lines.filter(({ fields }) => fields.executionName?.startsWith(`key-${id}`));
      expect(own.map(({ message }) => message)).toEqual([
        'message_started',
        'message_planned',
        'worker_message_completed',
      ]);
      expect(new Set(own.map(({ fields }) => fields.correlationId))).toEqual(new Set([`correlation-${id}`]));
    }
  });
});

describe('invalid messages', () => {
  const bodies: readonly (readonly [string, string])[] = [
    ['the exercise', '{"gagal": true}'],
    ['no JSON', 'gagal'],
    ['an array', '[]'],
    ['a duplicate key', '{"messageId":"a","messageId":"b"}'],
    ['__proto__', '{"__proto__":{}}'],
    ['a lone surrogate', '{"messageId":"\\ud800"}'],
    ['a byte order mark', '\uFEFF{}'],
    ['deep nesting', '['.repeat(100_000)],
    ['a number beyond 2^53', '{"aggregateVersion":9007199254740993}'],
    // With the test's attribute it fills SQS's limit: there is no room for the reason.
    ['a megabyte of text', 'x'.repeat(1024 * 1024 - 16)],
    ['a type that is not deployed', JSON.stringify(probeEnvelope({ messageType: 'Strange' }))],
    ['a type named like what objects inherit', JSON.stringify(probeEnvelope({ messageType: 'constructor' }))],
  ];

  it.each(bodies)(
    '%s is in the dead-letter queue after exactly 3 receives, its neighbour completes',
    async (_what, body) => {
      const { telemetry, lines } = captured();
      const worker = await startWorker({ messages: [applies], telemetry });

      await worker.send(body);
      await worker.send(probeEnvelope());
      await worker.untilIdle();

      const rejected = lines.filter(({ message }) => message === 'message_rejected');
      expect(rejected.map(({ fields }) => [fields.receiveCount, fields.result])).toEqual([
        [1, 'RETURNED_TO_QUEUE'],
        [2, 'RETURNED_TO_QUEUE'],
        [3, 'KEPT'],
      ]);
      const [dead, ...rest] = await receiveAll(worker, worker.names.dlqUrl);
      expect(rest).toEqual([]);
      expect(dead?.body === body).toBe(true);
      await expectInvariants(worker, { keys: [KEY] });
    },
  );

  it.each(bodies)('%s is a case in the quarantine where the policy says so', async (_what, body) => {
    const worker = await startWorker({
      messages: [applies],
      invalidMessages: 'quarantine',
      invalidReceives: 1,
    });

    await worker.send(body, { attributes: { origin: 'test' } });
    await worker.untilIdle();

    const cases = (await allRows(worker)).filter(({ PK }) => String(PK).startsWith('QUARANTINE#'));
    expect(cases).toMatchObject([
      {
        source: 'starter',
        messageAttributes: { origin: 'test' },
        attention: expect.stringMatching(/^QUARANTINED#/),
      },
    ]);
    expect(cases[0]?.body === body || cases[0]?.bodyRef !== undefined).toBe(true);
    const [announced] = await receiveAll(worker, worker.names.quarantineQueueUrl);
    expect(announced?.body === body).toBe(true);
  });
});

describe('overload', () => {
  it('of StartExecution by 500 messages against a bucket of 100 dead-letters nothing and costs no attempt', async () => {
    const { telemetry, metrics } = captured();
    const worker = await startWorker({
      messages: [applies],
      telemetry,
      startThrottle: { bucket: 100, refillPerSecond: 20 },
    });
    const keys = Array.from({ length: 500 }, (_, index) => `probe:${index}`);

    for (const [index, idempotencyKey] of keys.entries()) {
      await worker.send(probeEnvelope({ idempotencyKey, aggregateId: String(index) }));
    }
    await worker.untilIdle();

    expect(metrics.some(({ name }) => name === 'StartsThrottled')).toBe(true);
    expect(metrics.filter(({ name }) => name === 'BusinessAttempts')).toEqual([]);
    expect(await worker.depth(worker.names.dlqUrl)).toBe(0);
    await expectInvariants(worker, { keys });
  });

  it('that lasts for an hour dead-letters nothing either', async () => {
    const worker = await startWorker({
      messages: [applies],
      faults: ({ caller, operation }): Fault =>
        caller === 'starter' && operation === 'PutItem' && worker.clock.now() < Date.UTC(2026, 0, 1, 1)
          ? { before: { status: 400, code: 'ThrottlingException' } }
          : 'none',
    });

    await worker.send(probeEnvelope());
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED', attempts: 1 });
    expect(await worker.depth(worker.names.dlqUrl)).toBe(0);
  });
});

describe('a FIFO queue', () => {
  it('starts the records of a group in order, and nothing of it behind a failure', async () => {
    const started: string[] = [];
    let failed = false;
    const { telemetry, lines } = captured();
    const worker = await startWorker({
      messages: [applies],
      fifo: true,
      telemetry,
      faults({ caller, operation }): Fault {
        if (failed || caller !== 'starter' || operation !== 'PutItem') return 'none';
        failed = true;
        return { before: 500 };
      },
    });

    for (const [group, index] of [
      ['A', 1],
      ['A', 2],
      ['B', 1],
      ['A', 3],
      ['B', 2],
    ] as const) {
      const idempotencyKey = `${group}${index}`;
      await worker.send(probeEnvelope({ idempotencyKey, aggregateId: group }), { groupId: group });
    }
    await worker.untilIdle();

    for (const { message, fields } of lines) {
      if (message === 'message_started') started.push(String(fields.idempotencyKey));
    }
    expect(failed).toBe(true);
    expect(started.filter((key) => key.startsWith('A'))).toEqual(['A1', 'A2', 'A3']);
    expect(started.filter((key) => key.startsWith('B'))).toEqual(['B1', 'B2']);
    await expectInvariants(worker, { keys: ['A1', 'A2', 'A3', 'B1', 'B2'] });
  });
});

describe('personal data and secrets', () => {
  it('are in no log line and no metric, whatever happens to the message', async () => {
    const { telemetry, lines, metrics } = captured();
    const secret = 'SECRET-4711';
    const leaks = probe(({ payload }) => {
      throw new RetryableFailure('BUSY', { message: `cannot use ${String(payload.token)}` });
    });
    const bug = probe(({ payload }) => JSON.parse(String(payload.token)), { type: 'Bug' });
    const worker = await startWorker({ messages: [leaks, bug, { ...applies, type: 'Fine' }], telemetry });
    const payload = { token: secret, email: `${secret}@example.org`, [`${secret}!`]: 1 };

    await worker.send(probeEnvelope({ payload }));
    await worker.send(probeEnvelope({ messageType: 'Bug', idempotencyKey: 'bug', payload }));
    await worker.send(probeEnvelope({ messageType: 'Fine', idempotencyKey: 'fine', payload }));
    await worker.send(probeEnvelope({ idempotencyKey: 'strange', token: secret, producer: { secret } }));
    await worker.send(`{"token":"${secret}`);
    await worker.untilIdle();

    expect(lines.length).toBeGreaterThan(20);
    expect(JSON.stringify([lines, metrics])).not.toContain(secret);
    expect(
      (await receiveAll(worker, worker.names.dlqUrl)).map(({ attributes }) => attributes),
    ).not.toContainEqual(expect.objectContaining({ FailureReason: expect.stringContaining(secret) }));
  });
});

describe('the input of an execution', () => {
  it('survives every route: failure, back-off, and the next attempt see the same envelope', async () => {
    const seen: unknown[] = [];
    const definition = probe(({ envelope, payload, now }) => {
      seen.push({ envelope, payload, now: now.toISOString() });
      if (seen.length < 4) throw new RetryableFailure('BUSY');
      return {};
    });
    const worker = await startWorker({ messages: [definition] });

    await worker.send(probeEnvelope({ correlationId: 'c', tenantId: 't' }));
    await worker.untilIdle();

    expect(seen).toHaveLength(4);
    expect(new Set(seen.map((entry) => JSON.stringify(entry))).size).toBe(1);
    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED', attempts: 4, correlationId: 'c' });
  });
});
