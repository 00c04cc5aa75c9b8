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
