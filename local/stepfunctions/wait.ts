import type { Clock } from '../../lambdas/core/clock.ts';

/** Node's timers overflow above this. */
const LONGEST_SLEEP_MS = 2_147_483_647;

/** Sleeps until `time` (epoch milliseconds); rejects with the signal's reason when it is aborted first. */
export async function sleepUntil(clock: Clock, time: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  for (let left = time - clock.now(); left > 0; left = time - clock.now()) {
    await clock.sleep(Math.min(left, LONGEST_SLEEP_MS), signal);
  }
}

/** A signal of its own that also follows `outer`; `release` takes it off `outer` again. */
export function childSignal(outer: AbortSignal): {
  readonly controller: AbortController;
  readonly release: () => void;
} {
  const controller = new AbortController();
  const follow = () => controller.abort(outer.reason);
  if (outer.aborted) follow();
  else outer.addEventListener('abort', follow, { once: true });
  return { controller, release: () => outer.removeEventListener('abort', follow) };
}

/** Made once: an abort without a reason builds an exception with its stack each time. */
const RELEASED = new Error('released');

/** Waits for `work`, at most until `deadline`; `undefined` means that the deadline came first. */
export async function withDeadline<T>(
  work: Promise<T>,
  deadline: number | undefined,
  clock: Clock,
  signal: AbortSignal,
): Promise<{ readonly value: T } | undefined> {
  const { controller, release } = childSignal(signal);
  try {
    const done = work.then((value) => ({ value }));
    return await Promise.race([done, untilAborted(controller.signal), ...timer()]);
  } finally {
    release();
    controller.abort(RELEASED);
  }

  function timer(): Promise<undefined>[] {
    if (deadline === undefined) return [];
    return [sleepUntil(clock, deadline, controller.signal).then(() => undefined, rethrowUnlessReleased)];
  }

  function rethrowUnlessReleased(reason: unknown): undefined {
    if (signal.aborted) throw reason;
    return undefined;
  }
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}
