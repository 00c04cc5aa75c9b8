import { DescribeExecutionCommand } from '@aws-sdk/client-sfn';
import { executionArn, executionName } from '../../lambdas/core/identity.ts';
import { listExecutions } from '../../local/list-executions.ts';
import type { LocalRuntime } from '../../local/runtime.ts';
import { accessWorker, type WorkerAccess } from '../../local/testing/worker-access.ts';

/** What a test asks of a worker. */
export interface WorkerQuestions extends WorkerAccess {
  execution(
    idempotencyKey: string,
    replay?: number,
  ): Promise<{
    readonly arn: string;
    readonly status: string | undefined;
    readonly error: string | undefined;
    readonly cause: string | undefined;
    readonly output: string | undefined;
    /** Names of the states entered, in order. */
    readonly states: readonly string[];
    readonly billedTransitions: number;
  }>;
  executions(status?: 'RUNNING' | 'SUCCEEDED' | 'FAILED'): Promise<number>;
}

/** A worker whose runtime is at hand. */
export type AskedWorker = LocalRuntime & WorkerQuestions;

/** Answers from the runtime's own services. */
export function askWorker(runtime: LocalRuntime): WorkerQuestions {
  const { sfn } = runtime.clients;
  return {
    ...accessWorker(runtime),
    async execution(idempotencyKey, replay = 0) {
      const name = executionName(idempotencyKey, { replay });
      const arn = executionArn(runtime.names.stateMachineArn, name);
      const described = await sfn.send(new DescribeExecutionCommand({ executionArn: arn }));
      const history = runtime.stepFunctions.history(arn) ?? [];
      return {
        arn,
        status: described.status,
        error: described.error,
        cause: described.cause,
        output: described.output,
        states: history.flatMap((event) =>
          event.type.endsWith('StateEntered') ? [String(event.details?.name)] : [],
        ),
        billedTransitions: runtime.stepFunctions.billedTransitions(arn) ?? 0,
      };
    },
    executions: async (status) => (await listExecutions(runtime, status)).length,
  };
}
