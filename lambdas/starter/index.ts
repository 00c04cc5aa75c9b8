import { readFileSync } from 'node:fs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import { SQSClient } from '@aws-sdk/client-sqs';
import { sources } from 'stepwell-sources';
import { clientConfig } from '../aws/clients.ts';
import { requireEnv } from '../aws/env.ts';
import { putObject } from '../aws/objects-on-demand.ts';
import { systemClock, systemId, systemRandom } from '../aws/system.ts';
import { createTelemetry } from '../aws/telemetry.ts';
import type { Manifest } from '../core/manifest.ts';
import { starterDeps } from './deps.ts';
import { createHandler } from './handler.ts';

const manifest: Manifest = JSON.parse(
  readFileSync(`${requireEnv(process.env, 'LAMBDA_TASK_ROOT')}/manifest.json`, 'utf8'),
);

export const handler = createHandler(
  starterDeps(process.env, {
    clock: systemClock,
    random: systemRandom,
    newId: systemId,
    manifest,
    sources,
    telemetry: createTelemetry(process.env),
    clients: {
      dynamodb: new DynamoDBClient(clientConfig()),
      sfn: new SFNClient(clientConfig()),
      sqs: new SQSClient(clientConfig()),
    },
    putObject,
  }),
);
