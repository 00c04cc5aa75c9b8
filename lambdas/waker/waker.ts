import { appliedVersion, versionAttribute } from '../core/ordering.ts';
import { numberOf, type RowReader, textOf } from '../core/ports.ts';
import type { StreamPlace } from '../core/stream.ts';
import { skipKey, versionKey } from '../core/table.ts';

/** Skip markers, and waiters, that are looked at in one go. */
const WINDOW = 100;

/** A parked execution's row. */
export interface Waiter {
  readonly PK: string;
  readonly SK: string;
  readonly taskToken: string;
  readonly executionName: string;
}

export interface WakerDeps {
  readonly rows: RowReader;
  /** Answers a task token. `gone`: it has timed out, was answered before, or its execution has ended. */
  readonly answer: (taskToken: string) => Promise<'answered' | 'gone'>;
  /**
   * Deletes a waiter row if it still holds the token just used: an execution that timed out and parked again has put
   * a new one there, and an unconditional delete would lose its wake-up.
   */
  readonly deleteWaiter: (waiter: Waiter) => Promise<void>;
}

/**
 * Wakes every parked execution of an ordering stream whose turn has come: version at most one above what is applied,
 * where skipped versions count as applied. Whichever of the two writes came last, the commit or the waiter row, its
 * change brings this here, and consistent reads find both.
 *
 * Safe to run twice, and at any point of an earlier run that was cut off.
 *
 * @returns how many were woken
 */
export async function wake({ aggregate, stream }: StreamPlace, deps: WakerDeps): Promise<number> {
  // Most commits wake nobody: one look for any waiter spares them the rest. One that comes later brings its own change.
  const [anybody] = await deps.rows.range(aggregate, `WAITER#${stream}#`, `WAITER#${stream}#\uffff`, 1);
  if (anybody === undefined) return 0;
  const key = { PK: aggregate, SK: 'META' };
  const [row] = await deps.rows.read([key]);
  const stored = numberOf(row, versionAttribute(stream)) ?? 0;
  const markers = await deps.rows.range(
    aggregate,
    skipKey(key, stream, stored + 1).SK,
    skipKey(key, stream, stored + WINDOW).SK,
    WINDOW,
  );
  const skipped = markers.flatMap((marker) => numberOf(marker, 'version') ?? []);
  const turn = appliedVersion(stored, skipped) + 1;
  let woken = 0;
  for (;;) {
    const waiters = await deps.rows.range(
      aggregate,
      `WAITER#${stream}#`,
      `WAITER#${stream}#${versionKey(turn)}#\uffff`,
      WINDOW,
    );
    for (const waiter of waiters) {
      const taskToken = textOf(waiter, 'taskToken') ?? '';
      const answer = await deps.answer(taskToken);
      if (answer === 'answered') woken += 1;
      await deps.deleteWaiter({
        PK: aggregate,
        SK: textOf(waiter, 'SK') ?? '',
        taskToken,
        executionName: textOf(waiter, 'executionName') ?? '',
      });
    }
    if (waiters.length < WINDOW) return woken;
  }
}
