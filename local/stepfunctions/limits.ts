/** Bytes of UTF-8 that a state's input, result or output may have. */
export const PAYLOAD_BYTES = 262_144;
/** Events that a history may hold, the last one included. */
export const HISTORY_EVENTS = 25_000;
/** Characters of an error's name, and of its cause. */
export const ERROR_CHARACTERS = 256;
export const CAUSE_CHARACTERS = 32_768;
/** The longest wait, time-out or heartbeat. */
export const MAX_SECONDS = 99_999_999;
/** How long an execution's name stays taken after it closed, and its record kept. */
export const NAME_RETENTION_MS = 90 * 24 * 3600 * 1000;
/** How long after its end an execution can be redriven. */
export const REDRIVE_WINDOW_MS = 14 * 24 * 3600 * 1000;
/** How long a redrive's clientToken is remembered. */
export const REDRIVE_TOKEN_MS = 15 * 60 * 1000;
/** Iterations that an inline Map runs at once when MaxConcurrency is 0. */
export const INLINE_MAP_CONCURRENCY = 40;
/** How long one expression may run. */
export const EXPRESSION_MS = 1000;

/** The size of a JSON text as the service counts it. */
export function byteLength(text: string): number {
  // A UTF-16 unit takes at most three bytes, so short texts need no count.
  return text.length * 3 <= PAYLOAD_BYTES ? text.length : Buffer.byteLength(text);
}
