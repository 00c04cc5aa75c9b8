import type { CallFailure } from '../core/provider.ts';

/** The request was not taken up: the same one may be sent again. */
const NOT_TAKEN_UP: ReadonlySet<number> = new Set([408, 425, 429]);

/**
 * What an answer other than 2xx amounts to.
 *
 * A 409 to an idempotent operation means that a call under the key is under way: it is asked again under the same
 * key, and never under another. 303 says that the request was carried out and its result lies elsewhere.
 */
export function statusFailure(
  status: number,
  context: {
    /** Names provider and operation. */
    readonly what: string;
    readonly idempotent: boolean;
    readonly retryAfterSeconds: number | undefined;
  },
): CallFailure {
  const { what, idempotent, retryAfterSeconds } = context;
  const message = `${what}: HTTP ${status}`;
  const later = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  const code = `HTTP_${status}`;
  if (NOT_TAKEN_UP.has(status)) return { done: 'no', kind: 'retryable', code, message, ...later };
  if (status === 409 && idempotent) return { done: 'unknown', code, message, ...later };
  if (status === 303) return { done: 'unknown', code: 'HTTP_REDIRECT', message };
  if (status >= 300 && status < 400) {
    return {
      done: 'no',
      kind: 'terminal',
      code: 'HTTP_REDIRECT',
      message: `${message}, which is not followed`,
    };
  }
  if (status >= 400 && status < 500) return { done: 'no', kind: 'terminal', code, message };
  return { done: 'unknown', code, message, ...later };
}
