import type { Clock } from '../core/clock.ts';
import { ConfigurationError } from '../core/errors.ts';

/** A rotated secret is in use after this long, without a call to Secrets Manager for every effect. */
const RENEW_MILLIS = 5 * 60 * 1000;

/**
 * Reads a secret and keeps it for five minutes. When renewing fails, the value at hand goes on being used.
 *
 * @param read answers undefined for a secret that is no text
 * @param secretId ARN or name; undefined where the function was given none
 * @returns a function that throws ConfigurationError without a secret, and what `read` threw while there is no value
 */
export function createSecret(
  read: (secretId: string) => Promise<string | undefined>,
  secretId: string | undefined,
  clock: Clock,
): () => Promise<string> {
  let held: { readonly value: string; readonly until: number } | undefined;
  return async () => {
    if (secretId === undefined) {
      throw new ConfigurationError('The provider wants a secret, and SECRET_ID is not set');
    }
    if (held !== undefined && held.until > clock.now()) return held.value;
    try {
      const value = await read(secretId);
      if (value === undefined) {
        throw new ConfigurationError('The secret that SECRET_ID names is binary; a text is wanted');
      }
      held = { value, until: clock.now() + RENEW_MILLIS };
    } catch (error) {
      if (held === undefined) throw error;
    }
    return held.value;
  };
}
