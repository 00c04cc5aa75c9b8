import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createDomainReader, parseDomainTables } from '../aws/domain-tables.ts';
import { type Environment, listEnv, requireEnv } from '../aws/env.ts';
import type { GetObject } from '../aws/get-object.ts';
import { createPayloadReader, offloadPayload } from '../aws/payloads.ts';
import type { PutObject } from '../aws/put-object.ts';
import { createRowReader } from '../aws/rows.ts';
import type { Clock } from '../core/clock.ts';
import { ConfigurationError } from '../core/errors.ts';
import { createManifest, createRegistry } from '../core/manifest.ts';
import type { AnyMessageDefinition } from '../core/message-type.ts';
import type { Telemetry } from '../core/telemetry.ts';
import type { PlanHandlerDeps } from './handler.ts';

export interface PlanSurroundings {
  readonly clock: Clock;
  readonly messages: readonly AnyMessageDefinition[];
  readonly telemetry: Telemetry;
  readonly clients: { readonly dynamodb: DynamoDBClient };
  readonly getObject: GetObject;
  readonly putObject: PutObject;
}

/**
 * Plan's dependencies as its environment says.
 * @throws ConfigurationError when a variable is missing, or the bundled message types are not the starter's
 */
export function planDeps(env: Environment, surroundings: PlanSurroundings): PlanHandlerDeps {
  const { clock, messages, telemetry, clients, getObject, putObject } = surroundings;
  const registry = createRegistry(messages);
  if (createManifest(registry).digest !== requireEnv(env, 'MANIFEST_DIGEST')) {
    throw new ConfigurationError(
      'The message types in this bundle are not those that the starter was deployed with: messages and messagesEntry must name the same module',
    );
  }
  const bucket = messages.some(({ data }) => data === 'reference') ? requireEnv(env, 'PAYLOAD_BUCKET') : '';
  return {
    clock,
    registry,
    telemetry,
    rows: createRowReader(clients.dynamodb, requireEnv(env, 'TABLE_NAME')),
    payloads: createPayloadReader(getObject, listEnv(env, 'PAYLOAD_BUCKETS')),
    putAside: (folder, bytes) => offloadPayload(putObject, bucket, bytes, folder),
    providers: new Set(listEnv(env, 'PROVIDERS')),
    domains: createDomainReader(clients.dynamodb, parseDomainTables(env.AGGREGATES)),
    worker: requireEnv(env, 'WORKER_NAME'),
  };
}
