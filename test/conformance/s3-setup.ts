import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandInput,
  PutObjectCommand,
  type PutObjectCommandInput,
  S3Client,
} from '@aws-sdk/client-s3';
import { inProcessClientConfig } from '../../local/edge/client-config.ts';
import { createInProcessRequestHandler } from '../../local/edge/request-handler.ts';
import { createS3Dispatch, createS3Store, type S3Call } from '../../local/s3/index.ts';
import { createVirtualClock } from '../../local/virtual-clock.ts';

/** The bucket that {@link setUp} writes to; a test creates it. */
export const Bucket = 'payloads';

/** The embedded S3 with a client of it. */
export function setUp() {
  const clock = createVirtualClock();
  let ids = 0;
  const store = createS3Store({ clock, newId: () => `0000-${String(++ids).padStart(4, '0')}` });
  const denied: S3Call[] = [];
  const dispatch = createS3Dispatch({
    store,
    deny: (call) => denied.some(({ operation, key }) => operation === call.operation && key === call.key),
  });
  const requestHandler = createInProcessRequestHandler(dispatch);
  const client = new S3Client({
    ...inProcessClientConfig({ requestHandler, clock, random: () => 0.5, maxAttempts: 1 }),
    forcePathStyle: true,
  });
  return {
    clock,
    store,
    denied,
    dispatch,
    client,
    put: (
      Key: string,
      Body: string | Uint8Array | Readable,
      rest: Partial<Omit<PutObjectCommandInput, 'Body'>> = {},
    ) => client.send(new PutObjectCommand({ Bucket, Key, Body, ...rest })),
    get: (Key: string, rest: Partial<GetObjectCommandInput> = {}) =>
      client.send(new GetObjectCommand({ Bucket, Key, ...rest })),
    async text(Key: string, rest: Partial<GetObjectCommandInput> = {}) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, ...rest }));
      return Body?.transformToString();
    },
    remove: (Key: string, VersionId?: string) =>
      client.send(
        new DeleteObjectCommand({ Bucket, Key, ...(VersionId === undefined ? {} : { VersionId }) }),
      ),
  };
}
