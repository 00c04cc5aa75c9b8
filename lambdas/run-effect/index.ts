import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { providers } from 'stepwell-providers';
import { clientConfig } from '../aws/clients.ts';
import { getObject, putObject } from '../aws/objects-on-demand.ts';
import { readSecret } from '../aws/secret-on-demand.ts';
import { createSecret } from '../aws/secrets.ts';
import { systemClock, systemId, systemRandom } from '../aws/system.ts';
import { createTelemetry } from '../aws/telemetry.ts';
import { runEffectDeps } from './deps.ts';
import { createHandler } from './handler.ts';

const { SECRET_ID } = process.env;
const secret = createSecret(readSecret, SECRET_ID, systemClock);
// Read at init, where a missing permission is seen at once and no message waits for it.
if (SECRET_ID !== undefined) await secret();

export const handler = createHandler(
  runEffectDeps(process.env, {
    clock: systemClock,
    random: systemRandom,
    newId: systemId,
    telemetry: createTelemetry(process.env),
    providers,
    secret,
    clients: { dynamodb: new DynamoDBClient(clientConfig()) },
    getObject,
    putObject,
  }),
);
