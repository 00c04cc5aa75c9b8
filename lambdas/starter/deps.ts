import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SFNClient } from '@aws-sdk/client-sfn';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { reportFailedBatch } from '../aws/breaker.ts';
import { type Environment, requireEnv, requireNumber } from '../aws/env.ts';
import { startExecution } from '../aws/executions.ts';
import { createLimit } from '../aws/in-flight.ts';
import { createInbox } from '../aws/inbox.ts';
import { offloadPayload } from '../aws/payloads.ts';
import type { PutObject } from '../aws/put-object.ts';
import { hideMessage } from '../aws/queue.ts';
import { createDeadLetters, createQuarantine } from '../aws/rejected.ts';
import type { Clock, NewId, Random } from '../core/clock.ts';
import { ConfigurationError } from '../core/errors.ts';
import type { Manifest } from '../core/manifest.ts';
import type { Source } from '../core/sources.ts';
import type { Telemetry } from '../core/telemetry.ts';
import { UNLIMITED } from './start.ts';
import type { StarterDeps } from './starter.ts';

/** A message that comes due later than this before the execution's end would leave it no time to work. */
const DEFER_MARGIN_SECONDS = 3_600;

export interface StarterSurroundings {
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  readonly manifest: Manifest;
  readonly sources: readonly Source[];
  readonly telemetry: Telemetry;
  readonly clients: {
    readonly dynamodb: DynamoDBClient;
    readonly sfn: SFNClient;
    readonly sqs: SQSClient;
  };
  readonly putObject: PutObject;
}

/**
 * The starter's dependencies as its environment says.
 * @throws ConfigurationError naming the variable that is missing or wrong
 */
export function starterDeps(env: Environment, surroundings: StarterSurroundings): StarterDeps {
  const { clients, clock, newId, putObject } = surroundings;
  const tableName = requireEnv(env, 'TABLE_NAME');
  const worker = requireEnv(env, 'WORKER_NAME');
  const stateMachineArn = requireEnv(env, 'STATE_MACHINE_ARN');
  const queueUrl = requireEnv(env, 'QUEUE_URL');
  const bucket = requireEnv(env, 'PAYLOAD_BUCKET');
  const policy = requireEnv(env, 'INVALID_MESSAGES');
  if (policy !== 'dlq' && policy !== 'quarantine') {
    throw new ConfigurationError('INVALID_MESSAGES must be dlq or quarantine');
  }
  const offload = (folder: string, bytes: Uint8Array) => offloadPayload(putObject, bucket, bytes, folder);
  const executionSeconds = requireNumber(env, 'EXECUTION_TIMEOUT_SECONDS');
  return {
    ...surroundings,
    worker,
    offload,
    reportFailedBatch: () => reportFailedBatch(clients.dynamodb, tableName),
    inFlight: createLimit(env, surroundings) ?? UNLIMITED,
    inbox: createInbox(clients.dynamodb, tableName, worker),
    startExecution: (name, input) => startExecution(clients.sfn, stateMachineArn, name, input),
    rejected:
      policy === 'dlq'
        ? createDeadLetters(clients.sqs, requireEnv(env, 'DLQ_URL'), newId)
        : createQuarantine({
            dynamodb: clients.dynamodb,
            sqs: clients.sqs,
            tableName,
            quarantineQueueUrl: requireEnv(env, 'QUARANTINE_QUEUE_URL'),
            clock,
            newId,
            offload,
          }),
    invalidReceives: requireNumber(env, 'INVALID_RECEIVES'),
    maxDeferSeconds: executionSeconds - Math.min(DEFER_MARGIN_SECONDS, executionSeconds / 2),
    backOff: (record, seconds) => hideMessage(clients.sqs, queueUrl, record.receiptHandle, seconds),
  };
}
