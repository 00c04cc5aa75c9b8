import { DescribeExecutionCommand, ListExecutionsCommand } from '@aws-sdk/client-sfn';
import { executionName } from '../../lambdas/core/identity.ts';
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
      const arn = runtime.names.stateMachineArn.replace(':stateMachine:', ':execution:').concat(`:${name}`);
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
    async executions(status) {
      let count = 0;
      let token: string | undefined;
      do {
        const page = await sfn.send(
          new ListExecutionsCommand({
            stateMachineArn: runtime.names.stateMachineArn,
            maxResults: 1000,
            ...(status === undefined ? {} : { statusFilter: status }),
            ...(token === undefined ? {} : { nextToken: token }),
          }),
        );
        count += page.executions?.length ?? 0;
        token = page.nextToken;
      } while (token !== undefined);
      return count;
    },
  };
}
