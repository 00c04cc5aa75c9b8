/**
 * JSON of what the services hold: numbers beyond 2^53 as text of all their digits, bytes in base64. Texts are as they
 * are, since programs read them; `plain` is for people.
 */
export const toJson = (value: unknown, indent?: number): string => JSON.stringify(value, inJson, indent);

function inJson(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Set) return [...value];
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return value;
}
