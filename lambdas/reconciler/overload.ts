import type { StoredBreaker } from '../aws/breaker.ts';
import type { EventSourceControl } from '../aws/event-source.ts';
import type { InFlightRegister } from '../aws/in-flight.ts';
import { CLOSED_BREAKER, nextBreaker } from '../core/breaker.ts';
import type { Clock } from '../core/clock.ts';
import type { Telemetry } from '../core/telemetry.ts';

/** Half open: Lambda takes no fewer. */
const PROBE_CONCURRENCY = 2;
/** Of a source that had no limit of its own, which cannot be taken away again by an update. */
const MOST_CONCURRENCY = 1_000;
/** A change of the table is told within seconds: a place that is taken for longer is looked at. */
const STALE_SECONDS = 15 * 60;

export interface OverloadDeps {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Of a worker with an in-flight limit. */
  readonly register?: InFlightRegister | undefined;
  /** Whether Step Functions knows an execution of that name. */
  readonly isKnown: (executionName: string) => Promise<boolean>;
  /** Of a worker with a breaker. */
  readonly breaker?:
    | {
        readonly source: EventSourceControl;
        read(): Promise<StoredBreaker | undefined>;
        write(breaker: StoredBreaker): Promise<void>;
        /** Batches of which not a single message could be started, since the last call. */
        takeReports(): Promise<number>;
        /** When the newest execution started (epoch milliseconds). */
        newestStart(): Promise<number | undefined>;
      }
    | undefined;
}

/** Releases the places that were taken long ago for what is no longer at work, and reports how many are taken. */
export async function reviewRegister({ register, clock, telemetry, isKnown }: OverloadDeps): Promise<void> {
  if (register === undefined) return;
  const released = await register.releaseStale(Math.floor(clock.now() / 1000) - STALE_SECONDS, isKnown);
  if (released > 0) telemetry.warn('in_flight_released', { released });
  telemetry.metric('InFlight', (await register.entries()).length);
}

/**
 * Moves the circuit breaker. The event source is changed before the state is written: a run that dies between the
 * two is repeated by the next one. A source that somebody else paused is left alone while the breaker is closed.
 *
 * @param lastLook epoch milliseconds of the look before this one
 */
export async function moveBreaker(lastLook: number, deps: OverloadDeps): Promise<void> {
  const { breaker: port, register, clock, telemetry } = deps;
  if (port === undefined) return;
  const stored: StoredBreaker = (await port.read()) ?? CLOSED_BREAKER;
  const failedBatches = await port.takeReports();
  const newest = failedBatches === 0 ? undefined : await port.newestStart();
  const stuck = register !== undefined && (await isStuck(register, lastLook));
  const now = clock.now();
  const since = stored.state === 'halfOpen' ? stored.since : lastLook;
  const started = newest !== undefined && newest > since;
  const { breaker, action } = nextBreaker(stored, { now, failedBatches, started, stuck });
  telemetry.metric('BreakerOpen', breaker.state === 'closed' ? 0 : 1);
  if (action === undefined) return;

  const before = stored.maxConcurrency;
  switch (action) {
    case 'pause': {
      const maxConcurrency = before ?? (await port.source.maxConcurrency());
      await port.source.set(false);
      await port.write({ ...breaker, ...(maxConcurrency === undefined ? {} : { maxConcurrency }) });
      break;
    }
    case 'probe':
      await port.source.set(true, PROBE_CONCURRENCY);
      await port.write({ ...breaker, ...(before === undefined ? {} : { maxConcurrency: before }) });
      break;
    case 'resume':
      await port.source.set(true, before ?? MOST_CONCURRENCY);
      await port.write(breaker);
      break;
  }
  telemetry.warn('breaker_moved', { result: breaker.state, failedBatches, stuck });
}

/** Full, and nobody in it has come since the last look. */
async function isStuck(register: InFlightRegister, lastLook: number): Promise<boolean> {
  if ((await register.room()) > 0) return false;
  return (await register.entries()).every(({ since }) => since * 1000 < lastLook);
}
