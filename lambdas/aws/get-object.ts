import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { PayloadRef } from '../core/envelope.ts';
import type { FetchedObject } from '../core/ports.ts';

/** `InvalidArgument` answers a version id that cannot be one, `KeyTooLongError` a key that no object can have. */
const NOT_FOUND = [
  'NoSuchKey',
  'NoSuchVersion',
  'NotFound',
  'NoSuchBucket',
  'InvalidArgument',
  'KeyTooLongError',
];
const DENIED = ['AccessDenied', 'Forbidden', 'AllAccessDisabled', 'InvalidObjectState'];

/** Reads an object of at most `maxBytes`. @throws what the client threw, unless the error says how it is with the object */
export type GetObject = (ref: PayloadRef, maxBytes: number) => Promise<FetchedObject>;

export function createGetObject(client: S3Client): GetObject {
  return async (ref, maxBytes) => {
    try {
      const output = await client.send(
        new GetObjectCommand({
          Bucket: ref.bucket,
          Key: ref.key,
          ...(ref.versionId === undefined ? {} : { VersionId: ref.versionId }),
        }),
      );
      const size = output.ContentLength ?? 0;
      if (size > maxBytes) return { status: 'tooLarge', bytes: size };
      const bytes = (await output.Body?.transformToByteArray()) ?? new Uint8Array();
      return { status: 'found', bytes };
    } catch (error) {
      const name = error instanceof Error ? error.name : '';
      if (NOT_FOUND.includes(name)) return { status: 'notFound' };
      if (DENIED.includes(name)) return { status: 'denied' };
      throw error;
    }
  };
}
