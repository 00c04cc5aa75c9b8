import { PutObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../lambdas/core/identity.ts';
import { documentIngest } from '../../../lambdas/messages/document-ingest.ts';
import { startWorker, type TestWorker } from '../../helpers/worker.ts';

const KEY = 'document:D-1:ingest:v1';

async function sendDocument(worker: TestWorker, body: Uint8Array, version = 1): Promise<void> {
  const bucket = worker.names.payloadBucket;
  const key = `documents/D-1/v${version}`;
  await worker.clients.s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body }));
  await worker.send({
    messageId: `document-${version}`,
    schemaVersion: 1,
    messageType: 'DocumentIngestRequested',
    producer: 'archive',
    occurredAt: '2026-01-01T00:00:00Z',
    idempotencyKey: `document:D-1:ingest:v${version}`,
    aggregateType: 'document',
    aggregateId: 'D-1',
    aggregateVersion: version,
    payloadRef: { bucket, key, sha256: sha256(body) },
  });
  await worker.untilIdle();
}

describe('DocumentIngestRequested', () => {
  it('keeps size, digest and index state of the object that the message names', async () => {
    const worker = await startWorker({ messages: [documentIngest] });
    const body = new TextEncoder().encode('Füße on the ground.\n');

    await sendDocument(worker, body);

    expect(await worker.aggregate('document', 'D-1')).toMatchObject({
      size: body.byteLength,
      sha256: sha256(body),
      indexState: 'INDEXED',
      wordCount: 4,
    });
    expect(await worker.inbox(KEY)).toMatchObject({ resultRef: `document/D-1/${sha256(body).slice(0, 12)}` });
  });

  it('leaves a newer version of the document as it is', async () => {
    const worker = await startWorker({ messages: [documentIngest] });
    await sendDocument(worker, new TextEncoder().encode('two words'), 2);

    await sendDocument(worker, new TextEncoder().encode('now three words'), 1);

    expect(await worker.aggregate('document', 'D-1')).toMatchObject({ wordCount: 2 });
    expect(await worker.inbox(KEY)).toMatchObject({ outcome: 'SUPERSEDED' });
  });

  it('ends with DOCUMENT_NOT_TEXT for an image', async () => {
    const worker = await startWorker({ messages: [documentIngest] });

    await sendDocument(worker, new Uint8Array([0x89, 0x50, 0x4e, 0x47]));

    expect(await worker.inbox(KEY)).toMatchObject({ failureCode: 'DOCUMENT_NOT_TEXT', attempts: 1 });
    expect(await worker.aggregate('document', 'D-1')).toBeUndefined();
  });

  it('ends with INVALID_PAYLOAD when the document stands in the message itself', async () => {
    const worker = await startWorker({ messages: [documentIngest] });

    await worker.send({
      messageId: 'document-1',
      schemaVersion: 1,
      messageType: 'DocumentIngestRequested',
      producer: 'archive',
      occurredAt: '2026-01-01T00:00:00Z',
      idempotencyKey: KEY,
      aggregateType: 'document',
      aggregateId: 'D-1',
      aggregateVersion: 1,
      payload: { text: 'inline' },
    });
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toMatchObject({ failureCode: 'INVALID_PAYLOAD' });
  });
});
