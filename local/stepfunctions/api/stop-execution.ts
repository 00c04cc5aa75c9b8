import type { JsonObject } from '../../../lambdas/core/json.ts';
import { type ActionDeps, readFailure, requireExecution, seconds } from './action.ts';

/** Ends a running execution as ABORTED; one that has ended is left as it is. */
export function stopExecution(deps: ActionDeps, request: JsonObject): JsonObject {
  const execution = requireExecution(deps, request);
  if (execution.status === 'RUNNING') {
    const { error, cause } = readFailure(request);
    deps.runner.stop(execution, error, cause);
  }
  return { stopDate: seconds(execution.stoppedAt ?? deps.machinery.clock.now()) };
}
