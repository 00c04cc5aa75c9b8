import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import { SQSClient } from '@aws-sdk/client-sqs';
import { clientConfig } from '../aws/clients.ts';
import { eventSourceControl } from '../aws/event-source-on-demand.ts';
import { systemClock, systemId } from '../aws/system.ts';
import { createTelemetry } from '../aws/telemetry.ts';
import { reconcilerDeps } from './deps.ts';
import { createHandler } from './handler.ts';

export const handler = createHandler(
  reconcilerDeps(process.env, {
    clock: systemClock,
    newId: systemId,
    telemetry: createTelemetry(process.env),
    clients: {
      dynamodb: new DynamoDBClient(clientConfig()),
      sfn: new SFNClient(clientConfig()),
      sqs: new SQSClient(clientConfig()),
    },
    eventSourceControl,
  }),
);
