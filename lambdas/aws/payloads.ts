import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { PayloadRef } from '../core/envelope.ts';
import { sha256 } from '../core/identity.ts';
import type { PayloadReader } from '../core/ports.ts';

const NOT_FOUND = ['NoSuchKey', 'NoSuchVersion', 'NotFound', 'NoSuchBucket'];
const DENIED = ['AccessDenied', 'Forbidden', 'AllAccessDisabled', 'InvalidObjectState'];

/** Where everything lies that is put aside because of its size or kind: a folder a key, so that it can be erased. */
export const OFFLOAD_PREFIX = 'payloads/';
/** What belongs to no one key. */
const SHARED_FOLDER = 'shared';

/**
 * Puts bytes under their own digest: the same payload is the same object at every redelivery.
 * The reference names no version, since each put of a versioned bucket makes a new one.
 */
export async function offloadPayload(
  client: S3Client,
  bucket: string,
  bytes: Uint8Array,
  folder = SHARED_FOLDER,
): Promise<PayloadRef> {
  const digest = sha256(bytes);
  const key = `${OFFLOAD_PREFIX}${folder}/${digest}`;
  await client.send(
    new PutObjectCommand({ Bucket: bucket, Key: key, Body: bytes, ContentType: 'application/json' }),
  );
  return { bucket, key, sha256: digest };
}

/** Reads the objects of the buckets that the worker was given. */
export function createPayloadReader(client: S3Client, buckets: readonly string[]): PayloadReader {
  return {
    allows: (bucket) => buckets.includes(bucket),
    async fetch(ref, maxBytes) {
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
    },
  };
}
