import type { PayloadRef } from '../core/envelope.ts';
import { sha256 } from '../core/identity.ts';
import type { PayloadReader } from '../core/ports.ts';
import { callSigned, encodeSegment, type SignedClient } from './signed-call.ts';

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
  client: SignedClient,
  bucket: string,
  bytes: Uint8Array,
  folder = SHARED_FOLDER,
): Promise<PayloadRef> {
  const digest = sha256(bytes);
  const key = `${OFFLOAD_PREFIX}${folder}/${digest}`;
  await callSigned(client, {
    service: 's3',
    operation: 'PutObject',
    method: 'PUT',
    bucket,
    path: pathOf(key),
    headers: {
      'content-type': 'application/json',
      // S3 refuses what arrives as something else.
      'x-amz-checksum-sha256': Buffer.from(digest, 'hex').toString('base64'),
    },
    body: bytes,
  });
  return { bucket, key, sha256: digest };
}

const pathOf = (key: string): string => `/${key.split('/').map(encodeSegment).join('/')}`;

/** Reads the objects of the buckets that the worker was given. */
export function createPayloadReader(client: SignedClient, buckets: readonly string[]): PayloadReader {
  return {
    allows: (bucket) => buckets.includes(bucket),
    async fetch(ref, maxBytes) {
      try {
        const { headers, bytes } = await callSigned(client, {
          service: 's3',
          operation: 'GetObject',
          method: 'GET',
          bucket: ref.bucket,
          path: pathOf(ref.key),
          ...(ref.versionId === undefined ? {} : { query: { versionId: ref.versionId } }),
        });
        const size = Number(headers['content-length'] ?? 0);
        if (size > maxBytes) return { status: 'tooLarge', bytes: size };
        return { status: 'found', bytes: await bytes() };
      } catch (error) {
        const name = error instanceof Error ? error.name : '';
        if (NOT_FOUND.includes(name)) return { status: 'notFound' };
        if (DENIED.includes(name)) return { status: 'denied' };
        throw error;
      }
    },
  };
}
