import { routingTransientFaults } from '../aws/transient.ts';
import { type RunEffectDeps, type RunEffectRequest, type RunEffectResult, runEffect } from './run-effect.ts';

/** What the handler uses of Lambda's context. */
export interface InvocationContext {
  getRemainingTimeInMillis?(): number;
}

/** RunEffect's Lambda handler: an effect in, its key and status out, or an error by whose name the state machine routes. */
export function createHandler(deps: RunEffectDeps) {
  return async (request: RunEffectRequest, context?: InvocationContext): Promise<RunEffectResult> => {
    const remaining = context?.getRemainingTimeInMillis?.();
    try {
      return await routingTransientFaults(() => runEffect(request, deps, remaining));
    } finally {
      deps.telemetry.flush();
    }
  };
}
