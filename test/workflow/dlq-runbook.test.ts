import { describe, expect, it } from 'vitest';
import { peek, redrive } from '../../cli/commands/dlq.ts';
import { send } from '../../cli/commands/send.ts';
import { show } from '../../cli/commands/show.ts';
import type { Telemetry } from '../../lambdas/core/telemetry.ts';
import { allRows, expectInvariants } from '../helpers/invariants.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';
import { type TestIo, targetOf, testIo } from '../unit/cli/cli-io.ts';

const known = probe(({ payload }) => ({ set: { value: Number(payload.value) } }));
/** The type whose deployment was forgotten. */
const forgotten = probe(({ payload }) => ({ set: { value: Number(payload.value) } }), { type: 'Forgotten' });

const KNOWN_KEY = 'probe:1';
const FORGOTTEN = [0, 1, 2, 3].map((index) => `forgotten:${index}`);
const dead = (index: number) =>
  probeEnvelope({
    messageType: 'Forgotten',
    idempotencyKey: `forgotten:${index}`,
    aggregateId: `F${index}`,
    correlationId: `c-${index}`,
  });

/** Keeps log lines and metrics. */
function recorder() {
  const lines: { readonly message: string; readonly fields: object }[] = [];
  const metrics: { readonly name: string; readonly value: number; readonly dimensions: object }[] = [];
  const line = (message: string, fields: object) => void lines.push({ message, fields });
  const telemetry: Telemetry = {
    info: line,
    warn: line,
    error: line,
    metric: (name, value, dimensions = {}) => void metrics.push({ name, value, dimensions }),
    flush() {},
  };
  return { lines, metrics, telemetry };
}

interface Incident {
  readonly worker: TestWorker;
  readonly io: TestIo;
  readonly recorded: ReturnType<typeof recorder>;
}

/** Nine dead letters: four of a type that is not deployed, each twice, and one under a key of other content. */
async function incident(): Promise<Incident> {
  const recorded = recorder();
  const worker = await startWorker({
    messages: [known],
    invalidReceives: 1,
    batchSize: 1,
    telemetry: recorded.telemetry,
  });
  await worker.send(probeEnvelope());
  await worker.untilIdle();
  for (const index of [0, 1, 2, 3, 0, 1, 2, 3]) await worker.send(dead(index));
  await worker.untilIdle();
  await worker.send(probeEnvelope({ messageId: 'msg-other', payload: { value: 2 } }));
  await worker.untilIdle();
  return { worker, io: testIo({ clock: worker.clock }), recorded };
}

const lastJson = (io: TestIo) => JSON.parse(io.lines.at(-1) ?? 'null');

async function drive<T>(worker: TestWorker, command: Promise<T>): Promise<T> {
  let done = false;
  const settled = command.finally(() => {
    done = true;
  });
  await worker.until(() => done);
  return settled;
}

describe('the runbook of the dead-letter queue, step by step', () => {
  it('finds the causes, sends few back after the fix, then the rest, and nothing is done twice', async () => {
    const { worker, io, recorded } = await incident();
    const target = targetOf(worker);
    const depth = () => worker.depth(worker.names.dlqUrl);

    // 1, 2: a sample, which stays; each letter says type, schema version, key, correlation, code and reason.
    await peek(10, true, target, io);
    const letters: Record<string, unknown>[] = lastJson(io);
    expect(await depth()).toBe(9);
    expect(letters).toHaveLength(9);
    expect(letters).toContainEqual(
      expect.objectContaining({
        messageType: 'Forgotten',
        schemaVersion: 1,
        idempotencyKey: 'forgotten:0',
        correlationId: 'c-0',
        code: 'UNKNOWN_MESSAGE_TYPE',
        reason: expect.stringContaining('$.messageType'),
      }),
    );

    // 3: the log by key.
    const ofKey = recorded.lines.filter(({ fields }) => JSON.stringify(fields).includes(`"${KNOWN_KEY}"`));
    expect(ofKey).toContainEqual({
      message: 'message_rejected',
      fields: expect.objectContaining({ code: 'IDEMPOTENCY_HASH_MISMATCH' }),
    });

    // 4: what the inbox knows: nothing of what never started, and how the other key ended.
    await expect(show('forgotten:0', true, target, io)).rejects.toMatchObject({ exitCode: 3 });
    await show(KNOWN_KEY, true, target, io);
    expect(lastJson(io)).toMatchObject({ inbox: { status: 'COMPLETED' } });

    // 5: two causes, told apart by their codes.
    const codes = letters.map(({ code }) => code).sort();
    expect(codes).toEqual(['IDEMPOTENCY_HASH_MISMATCH', ...Array(8).fill('UNKNOWN_MESSAGE_TYPE')]);

    // 6: the bug is mended by a deployment, before anything is sent back.
    worker.deploy([known, forgotten]);

    // 7: the data are corrected under a new key that names the old message.
    const corrected = probeEnvelope({
      messageId: 'msg-corrected',
      idempotencyKey: 'probe:1:corrected',
      causationId: 'msg-other',
      payload: { value: 2 },
    });
    const correcting = testIo({ clock: worker.clock, readInput: async () => JSON.stringify(corrected) });
    await send('-', { raw: false, json: true }, target, correcting);
    await worker.untilIdle();
    expect(await worker.inbox('probe:1:corrected')).toMatchObject({ status: 'COMPLETED' });
    expect(await worker.aggregate('probe', '1')).toMatchObject({ value: 2, revision: 2 });

    // 8: a few first. The others stay.
    expect(await redrive({ sample: 2, json: true }, target, io)).toBe(0);
    const sample: { idempotencyKey: string }[] = lastJson(io).moved;
    expect(sample).toHaveLength(2);
    expect(await depth()).toBe(7);
    await worker.untilIdle();
    for (const { idempotencyKey } of sample) {
      await show(idempotencyKey, true, target, io);
      expect(lastJson(io)).toMatchObject({ inbox: { status: 'COMPLETED' } });
    }

    // 9: the sample failed nowhere; then the rest, of which only what still is wrong comes back.
    const failures = () => recorded.metrics.filter(({ name }) => /Failures$/.test(name));
    expect(failures()).toEqual([]);
    expect(await drive(worker, redrive({ json: true }, target, io))).toBe(0);
    expect(lastJson(io)).toMatchObject({ status: 'COMPLETED', moved: 7 });
    await worker.untilIdle();
    expect(failures()).toEqual([]);
    const duplicates = recorded.metrics.filter(({ name }) => name === 'DuplicatesDropped');
    const completed = duplicates.filter(({ dimensions }) => JSON.stringify(dimensions).includes('COMPLETED'));
    expect(completed.length).toBeGreaterThanOrEqual(sample.length);
    expect(recorded.metrics.filter(({ name }) => name === 'CommitLatency').length).toBeGreaterThan(0);
    await peek(10, true, target, io);
    expect(lastJson(io)).toMatchObject([{ code: 'IDEMPOTENCY_HASH_MISMATCH', idempotencyKey: KNOWN_KEY }]);

    // 10: no invariant was broken: each key once, and the first request as it was.
    for (const index of FORGOTTEN.keys()) {
      expect(await worker.aggregate('probe', `F${index}`)).toMatchObject({ revision: 1 });
    }
    const conflicts = (await allRows(worker)).filter(({ SK }) => String(SK).startsWith('CONFLICT#'));
    expect(conflicts).toMatchObject([{ PK: `IDEMP#${KNOWN_KEY}`, count: 2 }]);
    await expectInvariants(worker, { keys: [KNOWN_KEY, 'probe:1:corrected', ...FORGOTTEN] });
  });

  it('leaves everything in the dead-letter queue when it is sent back before the fix', async () => {
    const { worker, io } = await incident();

    expect(await redrive({ sample: 2, json: true }, targetOf(worker), io)).toBe(0);
    await worker.untilIdle();

    expect(await worker.depth(worker.names.dlqUrl)).toBe(9);
    expect(await worker.executions()).toBe(1);
  });
});
