import { PutObjectCommand } from '@aws-sdk/client-s3';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../lambdas/core/identity.ts';
import { defineMessage } from '../../lambdas/core/message-type.ts';
import type { FaultInjector } from '../../local/edge/faults.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

const noted = defineMessage({
  type: 'Noted',
  schemas: { 1: v.object({ text: v.string() }) },
  ordering: 'none',
  attempts: { max: 4, baseSeconds: 60, capSeconds: 60 },
  maxPayloadBytes: 2_000_000,
  plan: ({ payload }) => ({ set: { length: payload.text.length, digest: sha256(payload.text) } }),
});

const KEY = 'note:1';
const content = (text: string) => JSON.stringify({ text });

const message = (fields: Record<string, unknown>) => ({
  messageId: 'm-1',
  schemaVersion: 1,
  messageType: 'Noted',
  producer: 'notes',
  occurredAt: '2026-01-01T00:00:00Z',
  idempotencyKey: KEY,
  aggregateType: 'NOTE',
  aggregateId: '1',
  ...fields,
});

const start = (faults?: FaultInjector) =>
  startWorker({ messages: [noted], ...(faults === undefined ? {} : { faults }) });

async function put(worker: TestWorker, body: string): Promise<string | undefined> {
  const { VersionId } = await worker.clients.s3.send(
    new PutObjectCommand({ Bucket: worker.names.payloadBucket, Key: 'note', Body: body }),
  );
  return VersionId;
}

const reference = (worker: TestWorker, body: string, overrides: Record<string, unknown> = {}) =>
  message({
    payloadRef: { bucket: worker.names.payloadBucket, key: 'note', sha256: sha256(body), ...overrides },
  });

describe('a payload by reference', () => {
  it('is read in the version that was sent, though the object has been replaced', async () => {
    const worker = await start();
    const versionId = await put(worker, content('first'));
    await put(worker, content('second, longer'));

    await worker.send(reference(worker, content('first'), { versionId }));
    await worker.untilIdle();

    expect(await worker.aggregate('note', '1')).toMatchObject({ length: 5 });
  });

  it('fails for good when the object was replaced and no version was sent', async () => {
    const worker = await start();
    await put(worker, content('second'));

    await worker.send(reference(worker, content('first')));
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toMatchObject({
      status: 'FAILED_TERMINAL',
      failureCode: 'PAYLOAD_CHECKSUM_MISMATCH',
      attempts: 1,
    });
  });

  it('is waited for when the object is missing, and read when it appears', async () => {
    const worker = await start();

    await worker.send(reference(worker, content('late')));
    await worker.until(async () => (await worker.inbox(KEY))?.failureCode === 'PAYLOAD_NOT_FOUND');
    await put(worker, content('late'));
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED' });
    expect(await worker.aggregate('note', '1')).toMatchObject({ length: 4 });
  });

  it('is given up under its own code when the object never appears', async () => {
    const worker = await start();

    await worker.send(reference(worker, content('never')));
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toMatchObject({
      status: 'FAILED_TERMINAL',
      failureCode: 'PAYLOAD_NOT_FOUND',
      failureReason: 'ATTEMPTS_EXHAUSTED',
      attempts: 4,
    });
  });

  it('fails for good in a bucket that the worker was not given, without asking S3', async () => {
    const asked: string[] = [];
    const worker = await start(({ service, operation }) => {
      if (service === 's3') asked.push(operation);
      return 'none';
    });

    await worker.send(reference(worker, content('x'), { bucket: 'somebody-elses' }));
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toMatchObject({ failureCode: 'PAYLOAD_BUCKET_NOT_ALLOWED', attempts: 1 });
    expect(asked).toEqual([]);
  });

  it('fails for good when access is denied', async () => {
    const worker = await start(({ service }) => (service === 's3' ? { before: 403 } : 'none'));
    await put(worker, content('secret'));

    await worker.send(reference(worker, content('secret')));
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toMatchObject({ failureCode: 'PAYLOAD_ACCESS_DENIED', attempts: 1 });
  });

  it('fails for good when the object is larger than the type takes', async () => {
    const worker = await start();
    const large = content('x'.repeat(2_000_000));
    await put(worker, large);

    await worker.send(reference(worker, large));
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toMatchObject({ failureCode: 'PAYLOAD_TOO_LARGE', attempts: 1 });
  });

  it('is one piece of work under any version, and a conflict with another content', async () => {
    const worker = await start();
    const first = await put(worker, content('same'));
    const second = await put(worker, content('same'));

    await worker.send(reference(worker, content('same'), { versionId: first }));
    await worker.untilIdle();
    await worker.send(reference(worker, content('same'), { versionId: second }));
    await worker.untilIdle();
    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED', receiveCount: 1 });
    expect(await worker.depth(worker.names.dlqUrl)).toBe(0);

    await worker.send(reference(worker, content('other')));
    await worker.untilIdle();
    expect(await worker.depth(worker.names.dlqUrl)).toBe(1);
    expect(await worker.aggregate('note', '1')).toMatchObject({ length: 4, revision: 1 });
  });
});

describe('a large message', () => {
  it.each([
    ['140 KB', 140, false],
    ['240 KB', 240, true],
    ['900 KB', 900, true],
    ['600 KB of two-byte characters', 300, true],
  ])('of %s is done, and carried in no state twice', async (what, kilobytes, aside) => {
    const worker = await start();
    const text = (what.includes('two-byte') ? 'é' : 'x').repeat(kilobytes * 1024);

    await worker.send(message({ payload: { text } }));
    await worker.untilIdle();

    expect(await worker.aggregate('note', '1')).toMatchObject({ length: text.length, digest: sha256(text) });
    const { arn } = await worker.execution(KEY);
    const inputs = (worker.stepFunctions.history(arn) ?? []).map(({ details }) =>
      Buffer.byteLength(String(details?.input ?? '')),
    );
    expect(Math.max(...inputs)).toBeLessThanOrEqual(262_144);
    expect(Math.max(...inputs) > 100_000).toBe(!aside);
  });
});
