import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SFNClient } from '@aws-sdk/client-sfn';
import { type Environment, requireEnv } from '../aws/env.ts';
import { createLimit } from '../aws/in-flight.ts';
import { createRowReader } from '../aws/rows.ts';
import { answerToken, deleteWaiter } from '../aws/waiters.ts';
import type { Clock } from '../core/clock.ts';
import type { Telemetry } from '../core/telemetry.ts';
import type { WakerHandlerDeps } from './handler.ts';

export interface WakerSurroundings {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly clients: { readonly dynamodb: DynamoDBClient; readonly sfn: SFNClient };
}

/**
 * The waker's dependencies as its environment says.
 * @throws ConfigurationError naming the variable that is missing
 */
export function wakerDeps(
  env: Environment,
  { clock, telemetry, clients }: WakerSurroundings,
): WakerHandlerDeps {
  const tableName = requireEnv(env, 'TABLE_NAME');
  const inFlight = createLimit(env, { clock, clients });
  return {
    telemetry,
    ...(inFlight === undefined ? {} : { inFlight }),
    rows: createRowReader(clients.dynamodb, tableName),
    answer: (taskToken) => answerToken(clients.sfn, taskToken),
    deleteWaiter: (waiter) => deleteWaiter(clients.dynamodb, tableName, waiter),
  };
}
