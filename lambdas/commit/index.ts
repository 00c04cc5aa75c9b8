import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { clientConfig } from '../aws/clients.ts';
import { requireEnv, requireNumber } from '../aws/env.ts';
import { systemClock } from '../aws/system.ts';
import { createTelemetry } from '../aws/telemetry.ts';
import { transact } from '../aws/transactions.ts';
import { createHandler } from './handler.ts';

const client = new DynamoDBClient(clientConfig());
const tableName = requireEnv(process.env, 'TABLE_NAME');

export const handler = createHandler({
  worker: requireEnv(process.env, 'WORKER_NAME'),
  inboxTtlSeconds: requireNumber(process.env, 'INBOX_TTL_SECONDS'),
  outboxTtlSeconds: requireNumber(process.env, 'OUTBOX_TTL_SECONDS'),
  transact: (items, token) => transact(client, tableName, items, token),
  clock: systemClock,
  telemetry: createTelemetry(process.env),
});
