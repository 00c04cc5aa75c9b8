import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { createRequestReader } from '../../../lambdas/aws/effect-requests.ts';
import { createGetObject } from '../../../lambdas/aws/get-object.ts';
import { offloadPayload } from '../../../lambdas/aws/payloads.ts';
import { createPutObject } from '../../../lambdas/aws/put-object.ts';
import type { WireEffect } from '../../../lambdas/core/decision.ts';
import { startWorker } from '../../helpers/worker.ts';

const effect: WireEffect = {
  key: 'k#pay',
  name: 'pay',
  provider: 'Bank',
  operation: 'capture',
  request: null,
  requestHash: 'hash',
  onRequestChange: 'fail',
  idempotencyKey: 'k',
};

async function startReader() {
  const { clients, names } = await startWorker();
  const put = (value: unknown) =>
    offloadPayload(
      createPutObject(clients.s3),
      names.payloadBucket,
      Buffer.from(JSON.stringify(value)),
      'folder',
    );
  return { clients, put, open: createRequestReader(createGetObject(clients.s3)) };
}

describe('createRequestReader', () => {
  it('gives an effect the request that lies aside', async () => {
    const { open, put } = await startReader();

    expect(await open({ ...effect, requestRef: await put({ amount: 7 }) })).toEqual({
      ...effect,
      request: { amount: 7 },
    });
  });

  it('leaves an effect that carries its request as it is', async () => {
    const { open } = await startReader();

    expect(await open({ ...effect, request: { amount: 7 } })).toEqual({ ...effect, request: { amount: 7 } });
  });

  it('calls no provider with a request that is gone or another', async () => {
    const { clients, open, put } = await startReader();
    const requestRef = await put({ amount: 7 });

    await expect(open({ ...effect, requestRef: { ...requestRef, sha256: 'other' } })).rejects.toThrow(/pay/);
    await clients.s3.send(new DeleteObjectCommand({ Bucket: requestRef.bucket, Key: requestRef.key }));
    await expect(open({ ...effect, requestRef })).rejects.toThrow(/gone/);
  });
});
