/** No provider's word keeps work waiting for longer than a day. */
const MAX_SECONDS = 24 * 60 * 60;
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Reads a `Retry-After` header, in seconds or as an HTTP date.
 *
 * @param now epoch milliseconds
 * @returns whole seconds, at most a day; undefined when there is none or it makes no sense
 */
export function retryAfterSeconds(header: string | null | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(Number(text), MAX_SECONDS);
  if (!HTTP_DATE.test(text)) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at)) return undefined;
  return Math.min(Math.max(Math.ceil((at - now) / 1000), 0), MAX_SECONDS);
}
