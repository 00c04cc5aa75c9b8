import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createEffectLog } from '../aws/effect-log.ts';
import { createRequestReader } from '../aws/effect-requests.ts';
import { type Environment, requireEnv, requireNumber } from '../aws/env.ts';
import type { GetObject } from '../aws/get-object.ts';
import { offloadPayload } from '../aws/payloads.ts';
import type { PutObject } from '../aws/put-object.ts';
import type { Clock, NewId, Random } from '../core/clock.ts';
import { ConfigurationError } from '../core/errors.ts';
import type { ProviderDefinition } from '../core/provider.ts';
import type { Telemetry } from '../core/telemetry.ts';
import type { RunEffectHandlerDeps } from './handler.ts';

/** 400 days: longer than any message's key can be replayed, with every default. */
const DEFAULT_EFFECT_TTL_SECONDS = 400 * 24 * 60 * 60;

export interface RunEffectSurroundings {
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  readonly telemetry: Telemetry;
  /** The team's providers; the function carries out one of them, `PROVIDER`. */
  readonly providers: readonly ProviderDefinition[];
  readonly secret: () => Promise<string>;
  readonly clients: { readonly dynamodb: DynamoDBClient };
  readonly getObject: GetObject;
  readonly putObject: PutObject;
}

/**
 * RunEffect's dependencies as its environment says.
 * @throws ConfigurationError when a variable is missing or names a provider that the bundle has not
 */
export function runEffectDeps(env: Environment, surroundings: RunEffectSurroundings): RunEffectHandlerDeps {
  const { clock, random, newId, telemetry, providers, secret, clients, getObject, putObject } = surroundings;
  const provider = requireEnv(env, 'PROVIDER');
  const definition = providers.find(({ name }) => name === provider);
  if (definition === undefined) {
    const known = providers.map(({ name }) => name).join(', ');
    throw new ConfigurationError(`PROVIDER is ${provider}; the bundle has ${known || 'no provider'}`);
  }
  const bucket = requireEnv(env, 'PAYLOAD_BUCKET');
  return {
    clock,
    random,
    newId,
    telemetry,
    provider,
    operations: definition.open({ env, clock, secret }),
    log: createEffectLog(clients.dynamodb, {
      tableName: requireEnv(env, 'TABLE_NAME'),
      ttlSeconds:
        env.EFFECT_TTL_SECONDS === undefined
          ? DEFAULT_EFFECT_TTL_SECONDS
          : requireNumber(env, 'EFFECT_TTL_SECONDS'),
    }),
    functionTimeoutSeconds: requireNumber(env, 'FUNCTION_TIMEOUT_SECONDS'),
    offload: (bytes, folder) => offloadPayload(putObject, bucket, bytes, folder),
    openRequest: createRequestReader(getObject),
  };
}
