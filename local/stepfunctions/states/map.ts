import type { JsonValue } from '../../../lambdas/core/json.ts';
import { isJsonList } from '../../edge/json.ts';
import {
  append,
  bindingsOf,
  conclude,
  emit,
  evaluate,
  evaluateInteger,
  type FrameContext,
  type Outcome,
  parseJson,
  typeError,
} from '../context.ts';
import type { MapState } from '../definition/types.ts';
import { EvaluationError } from '../errors.ts';
import { type Frame, newFrame } from '../execution.ts';
import type { Bindings } from '../expression.ts';
import { INLINE_MAP_CONCURRENCY, MAX_SECONDS } from '../limits.ts';

import { type Child, type RunFrame, runChildren } from './children.ts';

/** Runs the processor once an item, inline; the result is the array of the outputs, in the items' order. */
export async function runMap(
  context: FrameContext,
  state: MapState,
  input: JsonValue,
  run: RunFrame,
): Promise<Outcome> {
  const { frame } = context;
  const bindings = bindingsOf(context, { input }, state);
  const concurrency = await concurrencyOf(context, state, bindings);
  await checkTolerances(context, state, bindings);
  const items = await itemsOf(context, state, input, bindings);
  if (frame.children === undefined) {
    emit(context, 'MapStateStarted', { length: items.length });
    frame.items = JSON.stringify(items);
    frame.children = [];
    frame.phase = 'children';
  }
  const children = frame.children;
  // What the next iteration links to: the start of the Map, then the last inner event of the iteration that made room.
  let link = frame.lastEvent;
  let last = frame.lastEvent;

  async function childAt(index: number): Promise<Child> {
    const item = items[index] ?? null;
    const details = { name: state.name, index };
    let child = children.find((candidate) => candidate.iteration === index);
    const isNew = child === undefined;
    child ??= await newIteration(context, state, input, index, item);
    const iteration: Frame = child;
    return {
      frame: iteration,
      context: (signal) => ({
        ...context,
        sequence: state.processor,
        frame: iteration,
        parent: context,
        mapItem: { Index: index, Value: item },
        signal,
      }),
      started: () => {
        if (!isNew) return;
        iteration.lastEvent = append(context, 'MapIterationStarted', link, details);
        iteration.trigger = iteration.lastEvent;
        children.push(iteration);
      },
      succeeded: () => {
        link = iteration.lastEvent;
        last = append(context, 'MapIterationSucceeded', iteration.lastEvent, details);
      },
      failed: () => {
        append(context, 'MapIterationFailed', iteration.lastEvent, details);
        frame.lastEvent = iteration.lastEvent;
        frame.trigger = iteration.lastEvent;
        for (const sibling of children) {
          if (sibling === iteration || sibling.phase === 'done') continue;
          const at = { name: state.name, index: sibling.iteration ?? 0 };
          append(context, 'MapIterationAborted', sibling.lastEvent, at);
        }
      },
    };
  }

  await runChildren(context, items.length, childAt, concurrency, run);
  frame.lastEvent = last;
  frame.trigger = last;
  append(context, 'MapStateSucceeded', last);
  const outputs = new Map(children.map((child) => [child.iteration, child.output]));
  const result = items.map((_, index) => parseJson(outputs.get(index) ?? 'null'));
  return conclude(context, state, bindingsOf(context, { input, result }, state), result);
}

async function newIteration(
  context: FrameContext,
  state: MapState,
  input: JsonValue,
  index: number,
  item: JsonValue,
): Promise<Frame> {
  let value = item;
  if (state.itemSelector !== undefined) {
    const scope = { ...context, mapItem: { Index: index, Value: item } };
    value = await evaluate(context, state.itemSelector, bindingsOf(scope, { input }, state));
  }
  const frame = newFrame(state.processor.startAt, JSON.stringify(value), context.frame.lastEvent);
  frame.iteration = index;
  return frame;
}

async function itemsOf(
  context: FrameContext,
  state: MapState,
  input: JsonValue,
  bindings: Bindings,
): Promise<readonly JsonValue[]> {
  const kept = context.frame.items;
  if (kept !== undefined) {
    const items = parseJson(kept);
    return isJsonList(items) ? items : [];
  }
  if (state.items === undefined) {
    if (isJsonList(input)) return input;
    throw new EvaluationError(`Map state input must be an array but was: ${JSON.stringify(input)}`);
  }
  const items = await evaluate(context, state.items, bindings);
  if (!isJsonList(items)) throw typeError(state.items, 'Items', 'array', items);
  return items;
}

async function concurrencyOf(context: FrameContext, state: MapState, bindings: Bindings): Promise<number> {
  if (state.maxConcurrency === undefined) return INLINE_MAP_CONCURRENCY;
  const field = 'MaxConcurrency';
  const wanted = await evaluateInteger(context, state.maxConcurrency, field, bindings, 0, MAX_SECONDS);
  return wanted === 0 ? INLINE_MAP_CONCURRENCY : Math.min(wanted, INLINE_MAP_CONCURRENCY);
}

/** An inline Map tolerates no failures, but the service evaluates these fields, and so do we. */
async function checkTolerances(context: FrameContext, state: MapState, bindings: Bindings): Promise<void> {
  const { toleratedFailureCount: count, toleratedFailurePercentage: percentage } = state;
  if (count !== undefined) {
    await evaluateInteger(context, count, 'ToleratedFailureCount', bindings, 0, MAX_SECONDS);
  }
  if (percentage !== undefined) {
    const value = await evaluate(context, percentage, bindings);
    if (typeof value !== 'number') {
      throw typeError(percentage, 'ToleratedFailurePercentage', 'number', value);
    }
  }
}
