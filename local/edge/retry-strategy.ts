import type { Clock, Random } from '../../lambdas/core/clock.ts';

/** What the SDK tells about a failed attempt. */
interface RetryErrorInfo {
  readonly errorType: 'TRANSIENT' | 'THROTTLING' | 'SERVER_ERROR' | 'CLIENT_ERROR';
  readonly error?: unknown;
}

interface RetryToken {
  getRetryCount(): number;
  getRetryDelay(): number;
}

/** Fits any AWS SDK v3 client's `retryStrategy`. */
export interface ClockRetryStrategy {
  acquireInitialRetryToken(scope: string): Promise<RetryToken>;
  refreshRetryTokenForRetry(token: RetryToken, info: RetryErrorInfo): Promise<RetryToken>;
  recordSuccess(token: RetryToken): void;
}

export interface ClockRetryStrategyOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Attempts in all. @default 3, as the SDK's standard mode */
  readonly maxAttempts?: number;
  /** Ceiling of the first back-off; doubles with every attempt. @default 100 ms, 500 ms when throttled */
  readonly baseMilliseconds?: number;
}

const MAX_BACKOFF_MILLISECONDS = 20_000;

/** The SDK's standard retry rules (exponential back-off, full jitter), waiting on the injected clock. */
export function createClockRetryStrategy({
  clock,
  random,
  maxAttempts = 3,
  baseMilliseconds,
}: ClockRetryStrategyOptions): ClockRetryStrategy {
  const token = (retries: number): RetryToken => ({ getRetryCount: () => retries, getRetryDelay: () => 0 });
  return {
    acquireInitialRetryToken: async () => token(0),
    async refreshRetryTokenForRetry(previous, { errorType, error }) {
      const retries = previous.getRetryCount() + 1;
      if (errorType === 'CLIENT_ERROR' || retries >= maxAttempts) {
        throw error ?? new Error(`gave up after ${retries} attempts`);
      }
      const base = baseMilliseconds ?? (errorType === 'THROTTLING' ? 500 : 100);
      await clock.sleep(random() * Math.min(MAX_BACKOFF_MILLISECONDS, base * 2 ** (retries - 1)));
      return token(retries);
    },
    recordSuccess() {},
  };
}
