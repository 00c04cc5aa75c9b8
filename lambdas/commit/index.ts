import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { clientConfig } from '../aws/clients.ts';
import { getObject } from '../aws/objects-on-demand.ts';
import { systemClock } from '../aws/system.ts';
import { createTelemetry } from '../aws/telemetry.ts';
import { commitDeps } from './deps.ts';
import { createHandler } from './handler.ts';

export const handler = createHandler(
  commitDeps(process.env, {
    clock: systemClock,
    telemetry: createTelemetry(process.env),
    clients: { dynamodb: new DynamoDBClient(clientConfig()) },
    getObject,
  }),
);
