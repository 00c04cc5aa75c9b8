import type { Clock } from '../../lambdas/core/clock.ts';

/** Lets a loop sleep until something happens, without losing what happens while it is busy. */
export interface WakeUp {
  /** Something happened: ends the present `wait`, or the next one at once. */
  ring(): void;
  /** Waits for a `ring` since the last `wait`, at most until `time` (epoch milliseconds). */
  wait(time?: number): Promise<void>;
}

/** Creates a silent bell. */
export function createWakeUp(clock: Clock): WakeUp {
  let rung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    async wait(time) {
      if (!rung) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const timer = new AbortController();
        const timed =
          time === undefined ? promise : clock.sleep(time - clock.now(), timer.signal).catch(() => {});
        await Promise.race([promise, timed]);
        timer.abort();
        wake = undefined;
      }
      rung = false;
    },
  };
}
