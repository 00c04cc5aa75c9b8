import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { runUntil } from '../../../local/drive.ts';
import { createActivity } from '../../../local/edge/activity.ts';
import { createVirtualClock } from '../../../local/virtual-clock.ts';

const idle = () => 0;

describe('runUntil', () => {
  it('moves from timer to timer until the condition holds, and no further', async () => {
    const clock = createVirtualClock();
    const start = clock.now();
    const ticks: number[] = [];
    void (async () => {
      for (;;) {
        await clock.sleep(3_600_000);
        ticks.push(clock.now() - start);
      }
    })();

    await runUntil(() => ticks.length === 5_000, { clock, inFlight: idle });

    expect(ticks.at(-1)).toBe(5_000 * 3_600_000);
    expect(clock.now() - start).toBe(5_000 * 3_600_000);
  });

  it('lets everything due at an instant happen before the next', async () => {
    const clock = createVirtualClock();
    const order: string[] = [];
    const step = async (name: string, milliseconds: number) => {
      await clock.sleep(milliseconds);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(name);
      if (name === 'a') await step('c', 0);
    };
    void step('a', 1);
    void step('b', 2);

    await runUntil(() => order.length === 3, { clock, inFlight: idle });

    expect(order).toEqual(['a', 'c', 'b']);
  });

  it('waits for calls in flight, and not for those that wait for the clock', async () => {
    const clock = createVirtualClock();
    const activity = createActivity();
    const serviceClock = activity.waiting(clock);
    const events: string[] = [];
    void clock.sleep(1_000).then(() => events.push(`timer ${activity.inFlight()}`));
    void activity.run(async () => {
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      events.push('worked');
      await serviceClock.sleep(5_000);
      events.push('slept');
    });

    await runUntil(() => events.length === 3, { clock, inFlight: activity.inFlight });

    expect(events).toEqual(['worked', 'timer 0', 'slept']);
  });

  it('waits for work that Node does off the main thread', async () => {
    const clock = createVirtualClock();
    let timers = 0;
    let read: { readonly timers: number } | undefined;
    void clock.sleep(1).then(() => {
      timers += 1;
    });
    void readFile(import.meta.filename).then(() => {
      read = { timers };
    });

    await runUntil(() => timers === 1, { clock, inFlight: idle });

    expect(read).toEqual({ timers: 0 });
  });

  it('says so when nothing is left to happen', async () => {
    const clock = createVirtualClock();

    await expect(runUntil(() => false, { clock, inFlight: idle })).rejects.toThrow(
      /nothing is left to happen/,
    );
  });

  it('gives up after the given virtual time', async () => {
    const clock = createVirtualClock();
    void (async () => {
      for (;;) await clock.sleep(1_000);
    })();

    await expect(runUntil(() => false, { clock, inFlight: idle, maxVirtualMs: 60_000 })).rejects.toThrow(
      /within 60000 ms/,
    );
  });
});
