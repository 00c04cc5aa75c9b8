import { append, type FrameContext } from '../context.ts';
import { Aborted } from '../errors.ts';
import type { Frame } from '../execution.ts';
import { childSignal } from '../wait.ts';

/** Runs a nested frame; the interpreter's own loop, handed in. */
export type RunFrame = (context: FrameContext) => Promise<string>;

const SIBLING_FAILED = new Aborted('a sibling failed');

/** One branch or iteration. */
export interface Child {
  readonly frame: Frame;
  readonly context: (signal: AbortSignal) => FrameContext;
  /** Called before it runs, and with its end. */
  readonly started?: () => void;
  readonly succeeded?: () => void;
  readonly failed?: () => void;
}

/**
 * Runs children, at most `concurrency` at once, in order. When one fails the others are aborted and its error is
 * thrown; children that are done already (in a redrive or after a restart) are not run again.
 */
export async function runChildren(
  parent: FrameContext,
  count: number,
  childAt: (index: number) => Promise<Child>,
  concurrency: number,
  run: RunFrame,
): Promise<void> {
  const { controller, release } = childSignal(parent.signal);
  const { signal } = controller;
  let next = 0;
  let failed = false;
  let failure: unknown;

  async function worker(): Promise<void> {
    while (next < count && !signal.aborted) {
      const index = next;
      next += 1;
      let child: Child | undefined;
      try {
        child = await childAt(index);
        signal.throwIfAborted();
        if (child.frame.phase === 'done') continue;
        child.started?.();
        await run(child.context(signal));
        signal.throwIfAborted();
        child.succeeded?.();
      } catch (error) {
        if (signal.aborted) return;
        failed = true;
        failure = error;
        controller.abort(SIBLING_FAILED);
        try {
          child?.failed?.();
        } catch (reporting) {
          // The history is full, which ends the execution whatever failed before.
          failure = reporting;
        }
      }
    }
  }

  try {
    await Promise.all(Array.from({ length: Math.min(concurrency, count) }, worker));
  } finally {
    release();
  }
  parent.signal.throwIfAborted();
  if (failed) throw failure;
}

/** Reports the states in which branches stood when their Parallel failed. */
export function reportAborted(context: FrameContext, child: FrameContext): void {
  const { frame, sequence } = child;
  if (frame.phase === 'done' || frame.phase === 'new') return;
  const type = sequence.states.get(frame.state)?.type;
  if (type === 'Task' || type === 'Wait' || type === 'Parallel' || type === 'Map') {
    append(context, `${type}StateAborted`, frame.lastEvent);
  }
}
