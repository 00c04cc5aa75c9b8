import { PutObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { TerminalFailure } from '../../lambdas/core/errors.ts';
import { sha256 } from '../../lambdas/core/identity.ts';
import { allRows, expectInvariants, quarantineRows } from '../helpers/invariants.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

const KEY = 'probe:1';
const KIB = 1024;
const measures = probe(({ payload }) => ({ set: { length: String(payload.text).length } }));
const fails = probe(() => {
  throw new TerminalFailure('NEVER');
});

async function inputOf(worker: TestWorker): Promise<string> {
  const { arn } = await worker.execution(KEY);
  return String(worker.stepFunctions.history(arn)?.[0]?.details?.input);
}

describe('a large payload', () => {
  it.each([
    [140, false],
    [240, true],
    [900, true],
  ])('of %i KB commits; put aside: %s', async (kib, aside) => {
    const worker = await startWorker({ messages: [measures] });
    const text = 'x'.repeat(kib * KIB);

    await worker.send(probeEnvelope({ payload: { text } }));
    await worker.untilIdle();

    expect(await worker.aggregate('probe', '1')).toMatchObject({ length: kib * KIB });
    expect((await inputOf(worker)).includes('payloadRef')).toBe(aside);
    await expectInvariants(worker, { keys: [KEY] });
  });

  it('sent again is a duplicate, not a conflict', async () => {
    const worker = await startWorker({ messages: [measures] });
    for (let copy = 0; copy < 3; copy += 1) {
      await worker.send(probeEnvelope({ payload: { text: 'x'.repeat(300 * KIB) } }));
    }
    await worker.untilIdle();

    expect(await worker.executions()).toBe(1);
    expect(await worker.depth(worker.names.dlqUrl)).toBe(0);
  });

  it.each([
    ['plain text', 'x'],
    ['quotes, which take more bytes at every quoting', '"'],
    ['backslashes', '\\'],
    ['control characters', '\u0001'],
    ['four-byte characters', '😀'],
  ])('of %s, whatever its size, can be quarantined', async (_what, character) => {
    for (const kib of [50, 90, 150, 195]) {
      const worker = await startWorker({ messages: [fails] });
      const inJson = Buffer.byteLength(JSON.stringify(character)) - 2;

      await worker.send(probeEnvelope({ payload: { text: character.repeat((kib * KIB) / inJson) } }));
      await worker.untilIdle();

      expect(await worker.execution(KEY), `${kib} KB`).toMatchObject({ status: 'FAILED', error: 'NEVER' });
      expect(quarantineRows(await allRows(worker))).toHaveLength(1);
      await worker.stop();
    }
  });
});

describe('a payload by reference', () => {
  const bytes = Buffer.from(JSON.stringify({ text: 'from S3' }));

  async function start(body: Uint8Array, settings: Parameters<typeof probe>[1] = {}) {
    const worker = await startWorker({ messages: [probe(measures.plan, settings)] });
    const { VersionId } = await worker.clients.s3.send(
      new PutObjectCommand({ Bucket: worker.names.payloadBucket, Key: 'object', Body: body }),
    );
    const send = (ref: Record<string, unknown> = {}) =>
      worker.send(
        probeEnvelope({
          payload: undefined,
          payloadRef: { bucket: worker.names.payloadBucket, key: 'object', sha256: sha256(body), ...ref },
        }),
      );
    return { worker, send, versionId: VersionId };
  }

  it('is fetched', async () => {
    const { worker, send } = await start(bytes);
    await send();
    await worker.untilIdle();

    expect(await worker.aggregate('probe', '1')).toMatchObject({ length: 7 });
  });

  it('is fetched in the version that was sent', async () => {
    const { worker, send, versionId } = await start(bytes);
    await worker.clients.s3.send(
      new PutObjectCommand({ Bucket: worker.names.payloadBucket, Key: 'object', Body: '{"text":"newer"}' }),
    );
    await send({ versionId });
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED' });
  });

  it('that comes late is waited for', async () => {
    const { worker, send } = await start(bytes);
    await send({ key: 'later' });
    await worker.until(async () => (await worker.inbox(KEY))?.failureCode === 'PAYLOAD_NOT_FOUND');
    await worker.clients.s3.send(
      new PutObjectCommand({ Bucket: worker.names.payloadBucket, Key: 'later', Body: bytes }),
    );
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED', attempts: 2 });
  });

  it.each([
    ['of another digest', bytes, { sha256: 'a'.repeat(64) }, {}, 'PAYLOAD_CHECKSUM_MISMATCH'],
    ['larger than the type takes', bytes, {}, { maxPayloadBytes: 5 }, 'PAYLOAD_TOO_LARGE'],
    ['that is no JSON', Buffer.from('{'), {}, {}, 'INVALID_PAYLOAD'],
    ['with a byte order mark', Buffer.from('\uFEFF{}'), {}, {}, 'INVALID_PAYLOAD'],
    ['that is no UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}, {}, 'INVALID_PAYLOAD'],
  ])('%s is refused', async (_what, body, ref, settings, code) => {
    const { worker, send } = await start(body, settings);
    await send(ref);
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toMatchObject({
      status: 'FAILED_TERMINAL',
      failureCode: code,
      attempts: 1,
    });
  });
});
