import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { messages } from 'stepwell-messages';
import { clientConfig } from '../aws/clients.ts';
import { listEnv, requireEnv } from '../aws/env.ts';
import { createPayloadReader } from '../aws/payloads.ts';
import { createRowReader } from '../aws/rows.ts';
import { systemClock } from '../aws/system.ts';
import { createTelemetry } from '../aws/telemetry.ts';
import { ConfigurationError } from '../core/errors.ts';
import { createManifest, createRegistry } from '../core/manifest.ts';
import { createHandler } from './handler.ts';

const registry = createRegistry(messages);
const expected = requireEnv(process.env, 'MANIFEST_DIGEST');
if (createManifest(registry).digest !== expected) {
  throw new ConfigurationError(
    'The message types in this bundle are not those that the starter was deployed with: messages and messagesEntry must name the same module',
  );
}

export const handler = createHandler({
  clock: systemClock,
  registry,
  rows: createRowReader(new DynamoDBClient(clientConfig()), requireEnv(process.env, 'TABLE_NAME')),
  payloads: createPayloadReader(new S3Client(clientConfig()), listEnv(process.env, 'PAYLOAD_BUCKETS')),
  worker: requireEnv(process.env, 'WORKER_NAME'),
  telemetry: createTelemetry(process.env),
});
