import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Environment, requireEnv, requireNumber } from '../aws/env.ts';
import type { GetObject } from '../aws/get-object.ts';
import { createPayloadReader } from '../aws/payloads.ts';
import { transact } from '../aws/transactions.ts';
import type { Clock } from '../core/clock.ts';
import type { Telemetry } from '../core/telemetry.ts';
import { readAside } from './aside.ts';
import type { CommitHandlerDeps } from './handler.ts';

export interface CommitSurroundings {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly clients: { readonly dynamodb: DynamoDBClient };
  readonly getObject: GetObject;
}

/**
 * Commit's dependencies as its environment says.
 * @throws ConfigurationError naming the variable that is missing or wrong
 */
export function commitDeps(env: Environment, surroundings: CommitSurroundings): CommitHandlerDeps {
  const { clock, telemetry, clients, getObject } = surroundings;
  const tableName = requireEnv(env, 'TABLE_NAME');
  return {
    clock,
    telemetry,
    worker: requireEnv(env, 'WORKER_NAME'),
    inboxTtlSeconds: requireNumber(env, 'INBOX_TTL_SECONDS'),
    outboxTtlSeconds: requireNumber(env, 'OUTBOX_TTL_SECONDS'),
    readAside: (ref) => readAside(createPayloadReader(getObject, [ref.bucket]), ref),
    transact: (items, token) => transact(clients.dynamodb, tableName, items, token),
  };
}
