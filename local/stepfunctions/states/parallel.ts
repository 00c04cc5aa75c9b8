import type { JsonValue } from '../../../lambdas/core/json.ts';
import {
  append,
  bindingsOf,
  conclude,
  emit,
  evaluate,
  type FrameContext,
  type Outcome,
  parseJson,
} from '../context.ts';
import type { ParallelState, Sequence } from '../definition/types.ts';
import { type Frame, newFrame } from '../execution.ts';
import { type Child, type RunFrame, reportAborted, runChildren } from './children.ts';

/** Runs all branches side by side on the same input; the result is the array of their outputs. */
export async function runParallel(
  context: FrameContext,
  state: ParallelState,
  input: JsonValue,
  run: RunFrame,
): Promise<Outcome> {
  const { frame } = context;
  const children = frame.children ?? (await start(context, state, input));
  const branches = state.branches.flatMap((sequence, index) => {
    const child = children[index];
    return child === undefined ? [] : [branchOf(context, sequence, child)];
  });
  try {
    await runChildren(context, branches.length, (index) => pick(branches, index), branches.length, run);
  } catch (error) {
    if (!context.signal.aborted) {
      for (const branch of branches) reportAborted(context, branch.context(context.signal));
    }
    throw error;
  }
  const last = Math.max(...children.map((child) => child.lastEvent));
  frame.lastEvent = last;
  frame.trigger = last;
  append(context, 'ParallelStateSucceeded', last);
  const result = children.map((child) => parseJson(child.output ?? 'null'));
  return conclude(context, state, bindingsOf(context, { input, result }, state), result);
}

async function start(context: FrameContext, state: ParallelState, input: JsonValue): Promise<Frame[]> {
  const { frame } = context;
  let text = frame.input;
  if (state.arguments !== undefined) {
    text = JSON.stringify(await evaluate(context, state.arguments, bindingsOf(context, { input }, state)));
  }
  const started = emit(context, 'ParallelStateStarted');
  frame.children = state.branches.map((branch) => newFrame(branch.startAt, text, started));
  frame.phase = 'children';
  return frame.children;
}

function branchOf(context: FrameContext, sequence: Sequence, frame: Frame): Child {
  return {
    frame,
    context: (signal) => ({ ...context, sequence, frame, parent: context, signal }),
    failed: () => {
      context.frame.lastEvent = frame.lastEvent;
      context.frame.trigger = frame.lastEvent;
    },
  };
}

async function pick(branches: readonly Child[], index: number): Promise<Child> {
  const branch = branches[index];
  if (branch === undefined) throw new RangeError(`There is no branch ${index}.`);
  return branch;
}
