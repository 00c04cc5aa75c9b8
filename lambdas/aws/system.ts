import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Clock, NewId, Random } from '../core/clock.ts';

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (milliseconds, signal) =>
    setTimeout(milliseconds, undefined, signal === undefined ? {} : { signal }),
};

export const systemRandom: Random = () => Math.random();

export const systemId: NewId = () => randomUUID();
