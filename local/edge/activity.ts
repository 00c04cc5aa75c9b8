import type { Clock } from '../../lambdas/core/clock.ts';

/**
 * Counts work that goes on now, so that virtual time moves only when there is none. Work that waits for the
 * clock is not going on: it would wait forever for a clock that waits for it.
 */
export interface Activity {
  /** How many pieces of work are going on. */
  inFlight(): number;
  /** Counts `work` from now until it settles. Runs don't nest: each counts for itself. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** The clock for code that is called inside `run`: while it sleeps, its run is not counted. */
  waiting(clock: Clock): Clock;
}

/** Creates a counter at zero. */
export function createActivity(): Activity {
  let count = 0;
  return {
    inFlight: () => count,
    async run(work) {
      count += 1;
      try {
        return await work();
      } finally {
        count -= 1;
      }
    },
    waiting: (clock) => ({
      now: () => clock.now(),
      async sleep(milliseconds, signal) {
        count -= 1;
        try {
          await clock.sleep(milliseconds, signal);
        } finally {
          count += 1;
        }
      },
    }),
  };
}
