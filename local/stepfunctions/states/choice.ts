import type { JsonValue } from '../../../lambdas/core/json.ts';
import { bindingsOf, conclude, evaluate, type FrameContext, type Outcome, typeError } from '../context.ts';
import type { ChoiceState } from '../definition/types.ts';
import { StateError } from '../errors.ts';

/** Takes the first rule that holds, with that rule's own Assign and Output; the state's belong to Default. */
export async function runChoice(
  context: FrameContext,
  state: ChoiceState,
  input: JsonValue,
): Promise<Outcome> {
  const bindings = bindingsOf(context, { input }, state);
  for (const rule of state.choices) {
    const holds = await evaluate(context, rule.condition, bindings);
    if (typeof holds !== 'boolean') throw typeError(rule.condition, rule.location, 'boolean', holds);
    if (holds) return conclude(context, rule, bindings, input);
  }
  if (state.default === undefined) {
    throw new StateError(
      'States.NoChoiceMatched',
      `An error occurred while executing the state '${state.name}' (entered at the event id #${context.frame.enteredEvent}). Failed to transition out of the state. The state does not point to a next state.`,
    );
  }
  const parts = { assign: state.assign, output: state.output, next: state.default };
  return conclude(context, parts, bindings, input);
}
