import type { Clock } from '../lambdas/core/clock.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly fire: () => void;
}

/** A clock that stands still until it is told to move. Timers fire in order of time, then of creation. */
export interface VirtualClock extends Clock {
  /** The time of the earliest pending timer, or undefined when nothing waits. */
  nextTimer(): number | undefined;
  /** Moves to `time` (epoch milliseconds) and fires every timer due by then, in order. */
  moveTo(time: number): void;
}

export interface VirtualClockOptions {
  /** Epoch milliseconds at which the clock starts. @default 2026-01-01T00:00:00Z */
  readonly start?: number;
  /** Called with the new time at every move, e.g. to move a fake `Date` along. */
  readonly onMove?: (now: number) => void;
}

/** Creates a clock for tests, simulations and `stepwell/testing`. */
export function createVirtualClock(options: VirtualClockOptions = {}): VirtualClock {
  let now = options.start ?? Date.UTC(2026, 0, 1);
  let order = 0;
  const timers = new Set<Timer>();

  function earliest(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of timers) {
      if (
        first === undefined ||
        timer.at < first.at ||
        (timer.at === first.at && timer.order < first.order)
      ) {
        first = timer;
      }
    }
    return first;
  }

  return {
    now: () => now,
    sleep(milliseconds, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(signal.reason);
          return;
        }
        const abort = () => {
          timers.delete(timer);
          reject(signal?.reason);
        };
        const timer: Timer = {
          at: now + Math.max(0, milliseconds),
          order: order++,
          fire: () => {
            timers.delete(timer);
            signal?.removeEventListener('abort', abort);
            resolve();
          },
        };
        timers.add(timer);
        signal?.addEventListener('abort', abort, { once: true });
      });
    },
    nextTimer: () => earliest()?.at,
    moveTo(time) {
      for (let timer = earliest(); timer !== undefined && timer.at <= time; timer = earliest()) {
        now = Math.max(now, timer.at);
        options.onMove?.(now);
        timer.fire();
      }
      now = Math.max(now, time);
      options.onMove?.(now);
    },
  };
}
