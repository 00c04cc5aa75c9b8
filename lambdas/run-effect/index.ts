import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { providers } from 'stepwell-providers';
import { clientConfig } from '../aws/clients.ts';
import { createSecret } from '../aws/secrets.ts';
import { beside } from '../aws/signed-call.ts';
import { systemClock, systemId, systemRandom } from '../aws/system.ts';
import { createTelemetry } from '../aws/telemetry.ts';
import { runEffectDeps } from './deps.ts';
import { createHandler } from './handler.ts';

const { SECRET_ID } = process.env;
// The client is loaded where there is a secret.
const readSecret = async (id: string) => (await import('../aws/secrets-manager.ts')).readSecret(id);
const secret = createSecret(readSecret, SECRET_ID, systemClock);
// Read at init, where a missing permission is seen at once and no message waits for it.
if (SECRET_ID !== undefined) await secret();

const dynamodb = new DynamoDBClient(clientConfig());

export const handler = createHandler(
  runEffectDeps(process.env, {
    clock: systemClock,
    random: systemRandom,
    newId: systemId,
    telemetry: createTelemetry(process.env),
    providers,
    secret,
    clients: { dynamodb, s3: beside(dynamodb, 's3', process.env) },
  }),
);
