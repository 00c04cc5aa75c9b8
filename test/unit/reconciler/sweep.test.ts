import { describe, expect, it } from 'vitest';
import { SILENT } from '../../../lambdas/core/telemetry.ts';
import {
  type ExecutionPage,
  type ReconcilerDeps,
  type SweepCursor,
  sweep,
} from '../../../lambdas/reconciler/reconciler.ts';
import { createVirtualClock } from '../../../local/virtual-clock.ts';

interface Seen {
  readonly lists: { readonly status: string; readonly token: string | undefined }[];
  described: number;
  cursor: SweepCursor | undefined;
}

/** A reconciler beside a Step Functions whose lists have as many pages as asked for. */
function reconciler(pages: number, perPage: number, ago: number) {
  const clock = createVirtualClock();
  const seen: Seen = { lists: [], described: 0, cursor: undefined };
  const page = (number: number): ExecutionPage => ({
    executions: Array.from({ length: perPage }, (_, index) => ({
      arn: `arn:${number}-${index}`,
      name: `e-${number}-${index}`,
      startedAt: clock.now() - ago,
      stoppedAt: clock.now() - ago,
    })),
    nextToken: number + 1 < pages ? String(number + 1) : undefined,
  });
  const deps: ReconcilerDeps = {
    clock,
    telemetry: SILENT,
    newId: () => 'id',
    worker: 'w',
    inboxTtlSeconds: 1,
    executionTimeoutSeconds: 7 * 24 * 3600,
    isKnown: async () => true,
    rows: { read: async () => [], range: async () => [], hasMessage: async () => false },
    async describeClosed() {
      seen.described += 1;
      return undefined;
    },
    async list(status, token) {
      seen.lists.push({ status, token });
      return page(Number(token ?? 0));
    },
    transact: async () => ({ outcome: 'committed' }),
    announce: async () => {},
    readCursor: async () => seen.cursor,
    async writeCursor(cursor) {
      seen.cursor = cursor;
    },
    closeCompleted: async () => ({ closed: 0, open: 0 }),
    parkedPlaces: async () => [],
    wake: async () => 0,
  };
  return { clock, deps, seen };
}

const HOUR_MS = 3_600_000;

describe('a sweep', () => {
  it('asks for 30 pages at most, and the next goes on where it stopped', async () => {
    // Ended before the last pass, so that nothing is described.
    const { deps, seen } = reconciler(70, 1, 30 * HOUR_MS);

    await sweep(deps);
    const first = seen.lists.splice(0);
    const since = seen.cursor?.since;
    await sweep(deps);

    expect(first).toHaveLength(30);
    expect(seen.lists).toHaveLength(30);
    expect(seen.lists[0]).toEqual({ status: 'FAILED', token: '30' });
    expect(seen.cursor?.since).toBe(since);
    expect(seen.described).toBe(0);
  });

  it('describes 500 executions at most, and comes to the rest in the next ones', async () => {
    const { deps, seen } = reconciler(3, 200, HOUR_MS);

    await sweep(deps);
    expect(seen.described).toBeLessThanOrEqual(600);
    expect(seen.cursor?.unfinished).toBeDefined();
    for (let more = 0; seen.cursor?.unfinished !== undefined && more < 10; more += 1) await sweep(deps);

    expect(seen.described).toBe(3 * 3 * 200);
    expect(seen.cursor?.unfinished).toBeUndefined();
  });

  it('looks back ten minutes over the last pass, since lists are eventually consistent', async () => {
    const { clock, deps, seen } = reconciler(1, 1, 5 * 60_000);

    await sweep(deps);

    expect(seen.cursor?.since).toBe(clock.now() - 10 * 60_000);
    expect(seen.described).toBe(3);
  });
});
