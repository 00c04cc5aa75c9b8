import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { messages } from 'stepwell-messages';
import { clientConfig } from '../aws/clients.ts';
import { beside } from '../aws/signed-call.ts';
import { systemClock } from '../aws/system.ts';
import { createTelemetry } from '../aws/telemetry.ts';
import { planDeps } from './deps.ts';
import { createHandler } from './handler.ts';

const dynamodb = new DynamoDBClient(clientConfig());

export const handler = createHandler(
  planDeps(process.env, {
    clock: systemClock,
    messages,
    telemetry: createTelemetry(process.env),
    clients: { dynamodb, s3: beside(dynamodb, 's3', process.env) },
  }),
);
