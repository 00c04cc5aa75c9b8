import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Environment, listEnv, requireEnv } from '../aws/env.ts';
import { beginReplay } from '../aws/replays.ts';
import type { Telemetry } from '../core/telemetry.ts';
import type { ReportFailureHandlerDeps } from './handler.ts';

export interface ReportFailureSurroundings {
  readonly telemetry: Telemetry;
  readonly clients: { readonly dynamodb: DynamoDBClient };
}

/**
 * ReportFailure's dependencies as its environment says.
 * @throws ConfigurationError naming the variable that is missing
 */
export function reportFailureDeps(
  env: Environment,
  { telemetry, clients }: ReportFailureSurroundings,
): ReportFailureHandlerDeps {
  const tableName = requireEnv(env, 'TABLE_NAME');
  const worker = requireEnv(env, 'WORKER_NAME');
  return {
    telemetry,
    declaredCodes: listEnv(env, 'FAILURE_CODES'),
    beginReplay: (write) => beginReplay(clients.dynamodb, tableName, worker, write),
  };
}
