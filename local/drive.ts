import type { VirtualClock } from './virtual-clock.ts';

export interface DriveOptions {
  readonly clock: VirtualClock;
  /** How many calls are being worked on, e.g. `activity.inFlight`. */
  readonly inFlight: () => number;
  /** Virtual time after which to give up. @default one year */
  readonly maxVirtualMs?: number;
}

/** Consecutive turns of the event loop without work after which everything is taken to be at rest. */
const QUIET_TURNS = 3;
/** A call that takes longer than this many turns never answers. */
const MAX_BUSY_TURNS = 5_000_000;
const YEAR_MILLISECONDS = 365 * 86_400_000;

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** File, DNS, compression and crypto work that Node does off the main thread and that will call back. */
function hasNodeWork(): boolean {
  return process.getActiveResourcesInfo().some((name) => /Req(uest|Promise|Callback|Wrap)?$/i.test(name));
}

/**
 * Waits until nothing is in flight and nothing moves at the present virtual instant.
 *
 * @throws Error when a call stays in flight although nothing happens any more.
 */
export async function settle(inFlight: () => number): Promise<void> {
  let quiet = 0;
  for (let turn = 0; quiet < QUIET_TURNS; turn += 1) {
    await nextTurn();
    if (inFlight() > 0 || (quiet === QUIET_TURNS - 1 && hasNodeWork())) quiet = 0;
    else quiet += 1;
    if (turn >= MAX_BUSY_TURNS) {
      throw new Error(`${inFlight()} calls are still in flight after ${turn} turns of the event loop`);
    }
  }
}

/**
 * Lets everything happen that can happen at the present instant, then moves the clock to its next timer, and
 * so on until `predicate` holds.
 *
 * @throws Error when no timer is left, or `maxVirtualMs` has passed, and the predicate still doesn't hold.
 */
export async function runUntil(
  predicate: () => boolean | Promise<boolean>,
  { clock, inFlight, maxVirtualMs = YEAR_MILLISECONDS }: DriveOptions,
): Promise<void> {
  const start = clock.now();
  for (;;) {
    await settle(inFlight);
    if (await predicate()) return;
    const next = clock.nextTimer();
    const elapsed = `${clock.now() - start} ms of virtual time`;
    if (next === undefined) {
      throw new Error(`nothing is left to happen after ${elapsed}, and the awaited condition does not hold`);
    }
    if (next - start > maxVirtualMs) {
      throw new Error(`the awaited condition does not hold within ${maxVirtualMs} ms of virtual time`);
    }
    clock.moveTo(next);
  }
}
