import { type ExecutionStatus, paginateListExecutions } from '@aws-sdk/client-sfn';
import type { LocalRuntime } from './runtime.ts';

const PAGE = 1000;

/** ARNs of the worker's executions, of one status where one is named. */
export async function listExecutions(
  { names, clients }: Pick<LocalRuntime, 'names' | 'clients'>,
  status?: ExecutionStatus,
): Promise<readonly string[]> {
  const arns: string[] = [];
  const pages = paginateListExecutions(
    { client: clients.sfn, pageSize: PAGE },
    { stateMachineArn: names.stateMachineArn, ...(status === undefined ? {} : { statusFilter: status }) },
  );
  for await (const { executions = [] } of pages) {
    arns.push(...executions.flatMap(({ executionArn }) => executionArn ?? []));
  }
  return arns;
}
