import type { PayloadRef } from '../core/envelope.ts';
import { sha256 } from '../core/identity.ts';
import type { PayloadReader } from '../core/ports.ts';
import type { GetObject } from './get-object.ts';
import type { PutObject } from './put-object.ts';

/** Where everything lies that is put aside because of its size or kind: a folder a key, so that it can be erased. */
export const OFFLOAD_PREFIX = 'payloads/';
/** What belongs to no one key. */
const SHARED_FOLDER = 'shared';

/**
 * Puts bytes under their own digest: the same payload is the same object at every redelivery.
 * The reference names no version, since each put of a versioned bucket makes a new one.
 */
export async function offloadPayload(
  put: PutObject,
  bucket: string,
  bytes: Uint8Array,
  folder = SHARED_FOLDER,
): Promise<PayloadRef> {
  const digest = sha256(bytes);
  const key = `${OFFLOAD_PREFIX}${folder}/${digest}`;
  await put({ bucket, key, bytes, sha256: digest });
  return { bucket, key, sha256: digest };
}

/** Reads the objects of the buckets that the worker was given. */
export function createPayloadReader(get: GetObject, buckets: readonly string[]): PayloadReader {
  return { allows: (bucket) => buckets.includes(bucket), fetch: get };
}
