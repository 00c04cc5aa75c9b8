import { createHash } from 'node:crypto';

/** JSON with sorted keys, so that two spellings of one request compare equal. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : inner,
  );
}

/** What tells a repeated request from another one under the same client token. */
export function requestHash(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('base64');
}
