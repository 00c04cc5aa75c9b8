import type { AttemptPolicyOverride } from './envelope.ts';
import { type AttemptPolicy, DEFAULT_ATTEMPTS } from './execution.ts';

/** A message type's own defaults. */
export interface TypeAttempts {
  /** 1–100. @default 5 */
  readonly max?: number;
  /** @default 2 */
  readonly baseSeconds?: number;
  /** @default 300 */
  readonly capSeconds?: number;
  /** Codes after which no further attempt is made. @default none */
  readonly terminalAfterCodes?: readonly string[];
}

/** The envelope's policy over the type's over {@link DEFAULT_ATTEMPTS}. */
export function resolvePolicy(type: TypeAttempts, override: AttemptPolicyOverride = {}): AttemptPolicy {
  return {
    maxBusinessAttempts: override.maxBusinessAttempts ?? type.max ?? DEFAULT_ATTEMPTS.maxBusinessAttempts,
    baseSeconds: type.baseSeconds ?? DEFAULT_ATTEMPTS.baseSeconds,
    capSeconds: type.capSeconds ?? DEFAULT_ATTEMPTS.capSeconds,
    terminalAfterCodes: override.terminalAfterCodes ?? type.terminalAfterCodes ?? [],
    ...(override.notBefore ? { notBefore: override.notBefore } : {}),
    ...(override.retryableUntil ? { retryableUntil: override.retryableUntil } : {}),
  };
}

/** Between Plan's look at the clock and the state that draws the next delay. */
const MARGIN_SECONDS = 30;

/**
 * Whether the attempt that ends in `failure` may be the message's last. The delay to the next one is drawn later: a
 * window that the longest delay would miss counts as closed.
 *
 * @param attempts made before this one
 * @param now epoch milliseconds
 */
export function mayBeLast(
  policy: AttemptPolicy,
  attempts: number,
  failure: { readonly code: string; readonly retryAfterSeconds?: number },
  now: number,
): boolean {
  if (attempts + 1 >= policy.maxBusinessAttempts || policy.terminalAfterCodes.includes(failure.code))
    return true;
  if (policy.retryableUntil === undefined) return false;
  const backoff = Math.min(policy.capSeconds, policy.baseSeconds * 2 ** attempts);
  const longest = Math.max(failure.retryAfterSeconds ?? 0, backoff) + MARGIN_SECONDS;
  return now + longest * 1000 > Date.parse(policy.retryableUntil);
}
