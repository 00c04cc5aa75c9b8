import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SFNClient } from '@aws-sdk/client-sfn';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { readBreaker, takeReports, writeBreaker } from '../aws/breaker.ts';
import { type Environment, requireEnv, requireNumber } from '../aws/env.ts';
import type { EventSourceControl } from '../aws/event-source.ts';
import { describeClosed, isKnownExecution, listClosed, newestStart } from '../aws/history.ts';
import { createLimit } from '../aws/in-flight.ts';
import { sendNotice } from '../aws/notices.ts';
import { parkedPlaces } from '../aws/parked.ts';
import { closeCompleted } from '../aws/quarantine.ts';
import { createRowReader } from '../aws/rows.ts';
import { readCursor, writeCursor } from '../aws/sweep-cursor.ts';
import { transact } from '../aws/transactions.ts';
import { answerToken, deleteWaiter } from '../aws/waiters.ts';
import type { Clock, NewId } from '../core/clock.ts';
import type { Telemetry } from '../core/telemetry.ts';
import { wake } from '../waker/waker.ts';
import type { ReconcilerDeps } from './reconciler.ts';

/** Waiters looked at in each of 16 shards of a day in one sweep. */
const MAX_PARKED_PER_SHARD = 20;

export interface ReconcilerSurroundings {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly telemetry: Telemetry;
  readonly clients: {
    readonly dynamodb: DynamoDBClient;
    readonly sfn: SFNClient;
    readonly sqs: SQSClient;
  };
  /** Control of an event source mapping by its id. */
  readonly eventSourceControl: (uuid: string) => EventSourceControl;
}

/**
 * The reconciler's dependencies as its environment says.
 * @throws ConfigurationError naming the variable that is missing
 */
export function reconcilerDeps(env: Environment, surroundings: ReconcilerSurroundings): ReconcilerDeps {
  const { clock, newId, telemetry, clients, eventSourceControl } = surroundings;
  const { dynamodb, sfn, sqs } = clients;
  const tableName = requireEnv(env, 'TABLE_NAME');
  const worker = requireEnv(env, 'WORKER_NAME');
  const stateMachineArn = requireEnv(env, 'STATE_MACHINE_ARN');
  const queueUrl = requireEnv(env, 'QUARANTINE_QUEUE_URL');
  const rows = createRowReader(dynamodb, tableName);
  const eventSourceId = env.EVENT_SOURCE_ID ?? '';
  return {
    clock,
    newId,
    telemetry,
    worker,
    rows,
    inboxTtlSeconds: requireNumber(env, 'INBOX_TTL_SECONDS'),
    executionTimeoutSeconds: requireNumber(env, 'EXECUTION_TIMEOUT_SECONDS'),
    describeClosed: (arn) => describeClosed(sfn, arn),
    list: (status, pageToken) => listClosed(sfn, stateMachineArn, status, pageToken),
    transact: (items, token) => transact(dynamodb, tableName, items, token),
    announce: (notice) => sendNotice(sqs, queueUrl, notice),
    readCursor: () => readCursor(dynamodb, tableName),
    writeCursor: (cursor) => writeCursor(dynamodb, tableName, cursor),
    closeCompleted: (day, turn) =>
      closeCompleted(dynamodb, tableName, worker, {
        day,
        turn,
        at: new Date(clock.now()).toISOString(),
      }),
    parkedPlaces: (day, before) =>
      parkedPlaces(dynamodb, tableName, { day, before, limit: MAX_PARKED_PER_SHARD }),
    wake: (place) =>
      wake(place, {
        rows,
        answer: (taskToken) => answerToken(sfn, taskToken),
        deleteWaiter: (waiter) => deleteWaiter(dynamodb, tableName, waiter),
      }),
    register: createLimit(env, { clock, clients }),
    isKnown: (name) => isKnownExecution(sfn, stateMachineArn, name),
    breaker:
      eventSourceId === ''
        ? undefined
        : {
            source: eventSourceControl(eventSourceId),
            read: () => readBreaker(dynamodb, tableName),
            write: (breaker) => writeBreaker(dynamodb, tableName, breaker),
            takeReports: () => takeReports(dynamodb, tableName),
            newestStart: () => newestStart(sfn, stateMachineArn),
          },
  };
}
