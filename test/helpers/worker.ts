import { onTestFinished } from 'vitest';
import { messages } from '../../lambdas/messages/index.ts';
import { runUntil, settle } from '../../local/drive.ts';
import { type LocalRuntimeOptions, startRuntime } from '../../local/runtime.ts';
import { createVirtualClock, type VirtualClock } from '../../local/virtual-clock.ts';
import { seededRandom, sequentialIds } from './ids.ts';
import { type AskedWorker, askWorker } from './worker-questions.ts';

/** A whole worker in virtual time, and what a test asks of it. */
export interface TestWorker extends AskedWorker {
  readonly clock: VirtualClock;
  /** Lets time pass until the condition holds. */
  until(predicate: () => boolean | Promise<boolean>, maxVirtualMs?: number): Promise<void>;
  /** Lets time pass until no message is left and no execution runs. */
  untilIdle(maxVirtualMs?: number): Promise<void>;
}

/** Starts a worker in virtual time and stops it when the test ends. */
export async function startWorker(
  options: Partial<Omit<LocalRuntimeOptions, 'clock'>> & {
    /** A worker that runs beside this one, on the same clock. */
    readonly beside?: TestWorker;
    /** How many calls are under way elsewhere, e.g. at providers on loopback: virtual time waits for them. */
    readonly busy?: () => number;
  } = {},
): Promise<TestWorker> {
  const { beside, busy = () => 0 } = options;
  const clock = beside?.clock ?? createVirtualClock();
  const runtime = await startRuntime({
    random: seededRandom(1),
    newId: sequentialIds(),
    messages,
    onError: (error) => {
      throw error;
    },
    // A schedule never ends: a test that waits for what does not come would wait for a year.
    sweepSeconds: 0,
    ...options,
    clock,
  });
  onTestFinished(() => runtime.stop());
  const drive = { clock, inFlight: () => runtime.inFlight() + (beside?.inFlight() ?? 0) + busy() };

  const worker: TestWorker = {
    ...runtime,
    ...askWorker(runtime),
    clock,
    until: (predicate, maxVirtualMs) =>
      runUntil(predicate, { ...drive, ...(maxVirtualMs === undefined ? {} : { maxVirtualMs }) }),
    untilIdle: (maxVirtualMs) => worker.until(runtime.isIdle, maxVirtualMs),
  };
  await settle(runtime.inFlight);
  return worker;
}
