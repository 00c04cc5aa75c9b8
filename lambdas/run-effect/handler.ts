import { routingTransientFaults } from '../aws/transient.ts';
import type { WireEffect } from '../core/decision.ts';
import { countRouted } from '../core/routed-errors.ts';
import { type RunEffectDeps, type RunEffectRequest, type RunEffectResult, runEffect } from './run-effect.ts';

/** What the handler uses of Lambda's context. */
export interface InvocationContext {
  getRemainingTimeInMillis?(): number;
}

export interface RunEffectHandlerDeps extends RunEffectDeps {
  /** The effect with its request, which may be kept out of histories. */
  readonly openRequest: (effect: WireEffect) => Promise<WireEffect>;
}

/** RunEffect's Lambda handler: an effect in, its key and status out, or an error by whose name the state machine routes. */
export function createHandler(deps: RunEffectHandlerDeps) {
  return async (request: RunEffectRequest, context?: InvocationContext): Promise<RunEffectResult> => {
    const remaining = context?.getRemainingTimeInMillis?.();
    try {
      return await routingTransientFaults(async () => {
        const effect = await deps.openRequest(request.effect);
        return runEffect({ ...request, effect }, deps, remaining);
      });
    } catch (error) {
      countRouted(error, `RunEffect${deps.provider}`, deps.telemetry);
      throw error;
    } finally {
      deps.telemetry.flush();
    }
  };
}
