import type { JsonValue } from '../../../lambdas/core/json.ts';
import { bindingsOf, evaluate, type FrameContext, type Outcome, typeError } from '../context.ts';
import type { FailState } from '../definition/types.ts';
import { StateError } from '../errors.ts';
import type { Bindings } from '../expression.ts';
import type { Template } from '../template.ts';

/** Ends the sequence with the state's error and cause. */
export async function runFail(context: FrameContext, state: FailState, input: JsonValue): Promise<Outcome> {
  const bindings = bindingsOf(context, { input }, state);
  const error = await evaluateText(context, state.error, 'Error', bindings);
  const cause = await evaluateText(context, state.cause, 'Cause', bindings);
  throw new StateError(error, cause);
}

async function evaluateText(
  context: FrameContext,
  template: Template | undefined,
  field: string,
  bindings: Bindings,
): Promise<string | undefined> {
  if (template === undefined) return undefined;
  const value = await evaluate(context, template, bindings);
  if (typeof value !== 'string') throw typeError(template, field, 'string', value);
  return value;
}
