import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import { clientConfig } from '../aws/clients.ts';
import { systemClock } from '../aws/system.ts';
import { createTelemetry } from '../aws/telemetry.ts';
import { wakerDeps } from './deps.ts';
import { createHandler } from './handler.ts';

export const handler = createHandler(
  wakerDeps(process.env, {
    clock: systemClock,
    telemetry: createTelemetry(process.env),
    clients: { dynamodb: new DynamoDBClient(clientConfig()), sfn: new SFNClient(clientConfig()) },
  }),
);
