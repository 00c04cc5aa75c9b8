import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { clientConfig } from '../aws/clients.ts';
import { createTelemetry } from '../aws/telemetry.ts';
import { reportFailureDeps } from './deps.ts';
import { createHandler } from './handler.ts';

export const handler = createHandler(
  reportFailureDeps(process.env, {
    telemetry: createTelemetry(process.env),
    clients: { dynamodb: new DynamoDBClient(clientConfig()) },
  }),
);
