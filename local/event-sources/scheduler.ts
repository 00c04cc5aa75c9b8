import type { Clock, NewId } from '../../lambdas/core/clock.ts';
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../edge/client-config.ts';
import type { EventSource } from './event-source-mapping.ts';

/** The event of an EventBridge schedule. */
export interface ScheduledEvent {
  readonly version: '0';
  readonly id: string;
  readonly 'detail-type': 'Scheduled Event';
  readonly source: 'aws.events';
  readonly account: string;
  readonly time: string;
  readonly region: string;
  readonly resources: readonly string[];
  readonly detail: Readonly<Record<string, never>>;
}

export interface SchedulerOptions {
  readonly clock: Clock;
  readonly newId: NewId;
  /** Part of the rule's ARN in the event. */
  readonly name: string;
  readonly rateSeconds: number;
  /** Started at every tick, whether or not the last one has ended. */
  readonly invoke: (event: ScheduledEvent) => Promise<unknown>;
  /** Told of invocations that could not be made; the schedule goes on. */
  readonly onError?: (error: unknown) => void;
}

/** Invokes at a fixed rate, for the first time one period from now. */
export function createScheduler(options: SchedulerOptions): EventSource {
  const { clock, newId, name, rateSeconds, invoke, onError } = options;
  const stopped = new AbortController();
  const running = new Set<Promise<void>>();

  async function tick(): Promise<void> {
    try {
      await invoke({
        version: '0',
        id: newId(),
        'detail-type': 'Scheduled Event',
        source: 'aws.events',
        account: LOCAL_ACCOUNT,
        time: new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z'),
        region: LOCAL_REGION,
        resources: [`arn:aws:events:${LOCAL_REGION}:${LOCAL_ACCOUNT}:rule/${name}`],
        detail: {},
      });
    } catch (error) {
      onError?.(error);
    }
  }

  async function run(): Promise<void> {
    for (let next = clock.now() + 1_000 * rateSeconds; ; next += 1_000 * rateSeconds) {
      try {
        await clock.sleep(next - clock.now(), stopped.signal);
      } catch {
        break;
      }
      const ticking = tick().finally(() => running.delete(ticking));
      running.add(ticking);
    }
    await Promise.all(running);
  }

  const ran = run();
  return {
    async stop() {
      stopped.abort();
      await ran;
    },
  };
}
