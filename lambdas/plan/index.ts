import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { messages } from 'stepwell-messages';
import { clientConfig } from '../aws/clients.ts';
import { getObject, putObject } from '../aws/objects-on-demand.ts';
import { systemClock } from '../aws/system.ts';
import { createTelemetry } from '../aws/telemetry.ts';
import { planDeps } from './deps.ts';
import { createHandler } from './handler.ts';

export const handler = createHandler(
  planDeps(process.env, {
    clock: systemClock,
    messages,
    telemetry: createTelemetry(process.env),
    clients: { dynamodb: new DynamoDBClient(clientConfig()) },
    getObject,
    putObject,
  }),
);
