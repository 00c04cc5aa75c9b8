import type { Random } from './clock.ts';

export interface BackoffOptions {
  readonly baseSeconds: number;
  readonly capSeconds: number;
  /** The least to wait, whatever the jitter says. @default 0 */
  readonly floorSeconds?: number;
}

/**
 * Exponential back-off with full jitter: floor + random × min(cap, base × 2^(attempt−1)), in whole seconds.
 * @param attempt the attempt that has just failed, from 1
 */
export function fullJitterSeconds(attempt: number, random: Random, options: BackoffOptions): number {
  const { baseSeconds, capSeconds, floorSeconds = 0 } = options;
  const ceiling = Math.min(capSeconds, baseSeconds * 2 ** Math.min(attempt - 1, 52));
  return Math.round(floorSeconds + random() * ceiling);
}
