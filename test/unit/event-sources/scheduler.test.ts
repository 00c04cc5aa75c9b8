import { describe, expect, it } from 'vitest';
import { runUntil } from '../../../local/drive.ts';
import { createScheduler, type ScheduledEvent } from '../../../local/event-sources/scheduler.ts';
import { createVirtualClock } from '../../../local/virtual-clock.ts';

function setUp(invoke: (event: ScheduledEvent) => Promise<unknown>, onError?: (error: unknown) => void) {
  const clock = createVirtualClock();
  let ids = 0;
  const schedule = createScheduler({
    clock,
    newId: () => `id-${++ids}`,
    name: 'sweep',
    rateSeconds: 300,
    invoke,
    ...(onError === undefined ? {} : { onError }),
  });
  return { clock, schedule, until: (done: () => boolean) => runUntil(done, { clock, inFlight: () => 0 }) };
}

describe('scheduler', () => {
  it('invokes with a scheduled event at its rate', async () => {
    const events: ScheduledEvent[] = [];
    const t = setUp(async (event) => events.push(event));

    await t.until(() => events.length === 2);

    expect(events.map(({ time }) => time)).toEqual(['2026-01-01T00:05:00Z', '2026-01-01T00:10:00Z']);
    expect(events[0]).toMatchObject({ 'detail-type': 'Scheduled Event', source: 'aws.events', id: 'id-1' });
  });

  it('goes on after a failure', async () => {
    const errors: unknown[] = [];
    let calls = 0;
    const t = setUp(
      async () => {
        calls += 1;
        if (calls === 1) throw new Error('no');
      },
      (error) => errors.push(error),
    );

    await t.until(() => calls === 2);

    expect(errors).toHaveLength(1);
  });

  it('ends with the last invocation when it is stopped', async () => {
    const finish = Promise.withResolvers<void>();
    let calls = 0;
    const t = setUp(() => {
      calls += 1;
      return finish.promise;
    });
    await t.until(() => calls === 1);
    let stopped = false;
    const stop = t.schedule.stop().then(() => {
      stopped = true;
    });
    expect(stopped).toBe(false);
    finish.resolve();
    await stop;

    expect(t.clock.nextTimer()).toBeUndefined();
    expect(calls).toBe(1);
  });
});
