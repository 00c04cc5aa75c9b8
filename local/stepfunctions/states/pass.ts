import type { JsonValue } from '../../../lambdas/core/json.ts';
import { bindingsOf, conclude, type FrameContext, type Outcome } from '../context.ts';
import type { PassState, SucceedState } from '../definition/types.ts';

/** Pass and Succeed: Output, or the input unchanged. */
export async function runPass(
  context: FrameContext,
  state: PassState | SucceedState,
  input: JsonValue,
): Promise<Outcome> {
  return conclude(context, state, bindingsOf(context, { input }, state), input);
}
