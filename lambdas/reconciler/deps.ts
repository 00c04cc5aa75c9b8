import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SFNClient } from '@aws-sdk/client-sfn';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { type Environment, requireEnv, requireNumber } from '../aws/env.ts';
import { describeClosed, listClosed } from '../aws/history.ts';
import { sendNotice } from '../aws/notices.ts';
import { closeCompleted } from '../aws/quarantine.ts';
import { createRowReader } from '../aws/rows.ts';
import { readCursor, writeCursor } from '../aws/sweep-cursor.ts';
import { transact } from '../aws/transactions.ts';
import type { Clock, NewId } from '../core/clock.ts';
import type { Telemetry } from '../core/telemetry.ts';
import type { ReconcilerDeps } from './reconciler.ts';

export interface ReconcilerSurroundings {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly telemetry: Telemetry;
  readonly clients: {
    readonly dynamodb: DynamoDBClient;
    readonly sfn: SFNClient;
    readonly sqs: SQSClient;
  };
}

/**
 * The reconciler's dependencies as its environment says.
 * @throws ConfigurationError naming the variable that is missing
 */
export function reconcilerDeps(env: Environment, surroundings: ReconcilerSurroundings): ReconcilerDeps {
  const { clock, newId, telemetry, clients } = surroundings;
  const { dynamodb, sfn, sqs } = clients;
  const tableName = requireEnv(env, 'TABLE_NAME');
  const worker = requireEnv(env, 'WORKER_NAME');
  const stateMachineArn = requireEnv(env, 'STATE_MACHINE_ARN');
  const queueUrl = requireEnv(env, 'QUARANTINE_QUEUE_URL');
  return {
    clock,
    newId,
    telemetry,
    worker,
    rows: createRowReader(dynamodb, tableName),
    inboxTtlSeconds: requireNumber(env, 'INBOX_TTL_SECONDS'),
    executionTimeoutSeconds: requireNumber(env, 'EXECUTION_TIMEOUT_SECONDS'),
    describeClosed: (arn) => describeClosed(sfn, arn),
    list: (status, pageToken) => listClosed(sfn, stateMachineArn, status, pageToken),
    transact: (items, token) => transact(dynamodb, tableName, items, token),
    announce: (notice) => sendNotice(sqs, queueUrl, notice),
    readCursor: () => readCursor(dynamodb, tableName),
    writeCursor: (cursor) => writeCursor(dynamodb, tableName, cursor),
    closeCompleted: (day) =>
      closeCompleted(dynamodb, tableName, worker, day, new Date(clock.now()).toISOString()),
  };
}
