import type { Clock } from '../../lambdas/core/clock.ts';

/** A quota as the service states it. */
export interface TokenBucket {
  /** Requests that can be made at once. */
  readonly bucket: number;
  /** Requests that become possible each second. */
  readonly refillPerSecond: number;
}

/** Counts requests against a quota. @returns a function that takes one, false when none is left. */
export function createThrottle(clock: Clock, quota: TokenBucket | undefined): () => boolean {
  if (quota === undefined) return () => true;
  let left = quota.bucket;
  let at = clock.now();
  return () => {
    const now = clock.now();
    left = Math.min(quota.bucket, left + ((now - at) / 1000) * quota.refillPerSecond);
    at = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
