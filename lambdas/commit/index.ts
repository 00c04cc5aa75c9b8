import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { clientConfig } from '../aws/clients.ts';
import { beside } from '../aws/signed-call.ts';
import { systemClock } from '../aws/system.ts';
import { createTelemetry } from '../aws/telemetry.ts';
import { commitDeps } from './deps.ts';
import { createHandler } from './handler.ts';

const dynamodb = new DynamoDBClient(clientConfig());

export const handler = createHandler(
  commitDeps(process.env, {
    clock: systemClock,
    telemetry: createTelemetry(process.env),
    clients: { dynamodb, s3: beside(dynamodb, 's3', process.env) },
  }),
);
