import type { JsonObject } from '../../../lambdas/core/json.ts';
import type { Execution } from '../execution.ts';
import { type ActionDeps, compact, requireExecution, seconds } from './action.ts';
import { redriveRefusal } from './redrive-execution.ts';

/** An execution's state, input and output. */
export function describeExecution(deps: ActionDeps, request: JsonObject): JsonObject {
  const execution = requireExecution(deps, request);
  const refusal = redriveRefusal(execution, deps.machinery.clock.now());
  return compact({
    ...summaryOf(execution),
    input: execution.input,
    inputDetails: { included: true },
    output: execution.output,
    outputDetails: execution.output === undefined ? undefined : { included: true },
    traceHeader: execution.traceHeader,
    error: execution.error,
    cause: execution.cause,
    redriveStatus: refusal === undefined ? 'REDRIVABLE' : 'NOT_REDRIVABLE',
    redriveStatusReason: refusal,
  });
}

/** What lists show of an execution. */
export function summaryOf(execution: Execution): JsonObject {
  return compact({
    executionArn: execution.arn,
    stateMachineArn: execution.machineArn,
    name: execution.name,
    status: execution.status,
    startDate: seconds(execution.startedAt),
    stopDate: execution.stoppedAt === undefined ? undefined : seconds(execution.stoppedAt),
    redriveCount: execution.redriveCount,
    redriveDate: execution.redrivenAt === undefined ? undefined : seconds(execution.redrivenAt),
  });
}
