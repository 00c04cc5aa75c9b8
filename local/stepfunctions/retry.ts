import type { Random } from '../../lambdas/core/clock.ts';
import type { Catcher, Retrier } from './definition/types.ts';
import type { StateError } from './errors.ts';
import type { Frame } from './execution.ts';

/** Whether an error matches a retrier's or catcher's names. `States.Runtime` never does. */
function matches(names: readonly string[], error: string | undefined): boolean {
  if (error === 'States.Runtime') return false;
  return names.some((name) => {
    if (name === 'States.ALL') return true;
    if (name === 'States.TaskFailed')
      return error !== 'States.Timeout' && error !== 'States.HeartbeatTimeout';
    // A missed heartbeat is a kind of time-out.
    if (name === 'States.Timeout' && error === 'States.HeartbeatTimeout') return true;
    return name === error;
  });
}

/**
 * Takes an attempt from the first retrier that matches.
 * @returns milliseconds to wait before the next attempt, or undefined when the error is not to be retried.
 */
export function nextRetry(
  retriers: readonly Retrier[],
  frame: Frame,
  failure: StateError,
  random: Random,
): number | undefined {
  const index = retriers.findIndex((retrier) => matches(retrier.errorEquals, failure.error));
  const retrier = retriers[index];
  if (retrier === undefined) return undefined;
  const spent = frame.retries[index] ?? 0;
  if (spent >= retrier.maxAttempts) return undefined;
  for (let i = frame.retries.length; i < index; i += 1) frame.retries[i] = 0;
  frame.retries[index] = spent + 1;
  frame.retryCount += 1;
  const grown = retrier.intervalSeconds * retrier.backoffRate ** spent;
  const seconds = Math.min(grown, retrier.maxDelaySeconds ?? Number.POSITIVE_INFINITY);
  return Math.round(seconds * 1000 * (retrier.fullJitter ? random() : 1));
}

/** The first catcher that matches. */
export function findCatcher(catchers: readonly Catcher[], failure: StateError): Catcher | undefined {
  return catchers.find((catcher) => matches(catcher.errorEquals, failure.error));
}

/** `$states.errorOutput`. */
export function errorOutput(failure: StateError): { readonly Error: string; readonly Cause: string } {
  return { Error: failure.error ?? '', Cause: failure.text ?? '' };
}
