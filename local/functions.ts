import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { S3Client } from '@aws-sdk/client-s3';
import type { SFNClient } from '@aws-sdk/client-sfn';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { createEventSourceControl } from '../lambdas/aws/event-source.ts';
import { createGetObject } from '../lambdas/aws/get-object.ts';
import { createPutObject } from '../lambdas/aws/put-object.ts';
import { commitDeps } from '../lambdas/commit/deps.ts';
import { createHandler as createCommit } from '../lambdas/commit/handler.ts';
import type { Clock, NewId, Random } from '../lambdas/core/clock.ts';
import type { DomainTables } from '../lambdas/core/domain-table.ts';
import { ConfigurationError } from '../lambdas/core/errors.ts';
import { createManifest, createRegistry } from '../lambdas/core/manifest.ts';
import type { AnyMessageDefinition } from '../lambdas/core/message-type.ts';
import type { ProviderDefinition } from '../lambdas/core/provider.ts';
import type { Source } from '../lambdas/core/sources.ts';
import type { Telemetry } from '../lambdas/core/telemetry.ts';
import { planDeps } from '../lambdas/plan/deps.ts';
import { createHandler as createPlan } from '../lambdas/plan/handler.ts';
import { reconcilerDeps } from '../lambdas/reconciler/deps.ts';
import { createHandler as createReconciler } from '../lambdas/reconciler/handler.ts';
import { reportFailureDeps } from '../lambdas/report-failure/deps.ts';
import { createHandler as createReportFailure } from '../lambdas/report-failure/handler.ts';
import { runEffectDeps } from '../lambdas/run-effect/deps.ts';
import { createHandler as createRunEffect } from '../lambdas/run-effect/handler.ts';
import { starterDeps } from '../lambdas/starter/deps.ts';
import { createHandler as createStarter } from '../lambdas/starter/handler.ts';
import { wakerDeps } from '../lambdas/waker/deps.ts';
import { createHandler as createWaker } from '../lambdas/waker/handler.ts';
import type { LambdaFunction } from './event-sources/index.ts';
import type { WorkerNames } from './names.ts';

/** The functions of a worker, by the name of their folder. */
export const FUNCTION_NAMES = {
  starter: 'starter',
  plan: 'plan',
  commit: 'commit',
  reportFailure: 'report-failure',
  waker: 'waker',
  reconciler: 'reconciler',
} as const;

/** Each provider has a RunEffect function of its own. */
export const runEffectName = (provider: string): string => `run-effect-${provider}`;

const FUNCTION_TIMEOUT_SECONDS = 30;
const PROVIDER_TIMEOUT_SECONDS = 60;
/** A sweep may read 30 pages and describe 600 executions. */
const RECONCILER_TIMEOUT_SECONDS = 300;
const OUTBOX_TTL_SECONDS = 7 * 24 * 60 * 60;

export interface WorkerFunctionsOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  readonly telemetry: Telemetry;
  readonly names: WorkerNames;
  readonly messages: readonly AnyMessageDefinition[];
  readonly sources: readonly Source[];
  readonly aggregates: DomainTables;
  readonly invalidMessages: 'dlq' | 'quarantine';
  readonly invalidReceives: number;
  readonly executionTimeoutSeconds: number;
  readonly inboxTtlSeconds: number;
  /** The mapping between the queue and the starter. */
  readonly eventSourceId: string;
  /** @default no limit */
  readonly maxInFlight?: number | undefined;
  readonly providers: readonly ProviderDefinition[];
  /** What the providers' functions find in their environment: endpoints and settings. */
  readonly providerEnvironment: Readonly<Record<string, string>>;
  /** What every provider is given as its secret. @default none: asking for one fails */
  readonly providerSecret?: string | undefined;
  readonly clients: {
    readonly dynamodb: DynamoDBClient;
    readonly sfn: SFNClient;
    readonly sqs: SQSClient;
    readonly s3: S3Client;
    readonly lambda: LambdaClient;
  };
}

/** The deployed handlers, wired as their Lambda entries wire them: from an environment and real clients. */
export function workerFunctions(options: WorkerFunctionsOptions): Readonly<Record<string, LambdaFunction>> {
  const { names, clients, clock, telemetry } = options;
  const getObject = createGetObject(clients.s3);
  const putObject = createPutObject(clients.s3);
  const eventSourceControl = (uuid: string) => createEventSourceControl(clients.lambda, uuid);
  const manifest = createManifest(createRegistry(options.messages));
  const env = {
    TABLE_NAME: names.tableName,
    WORKER_NAME: names.workerName,
    STATE_MACHINE_ARN: names.stateMachineArn,
    QUEUE_URL: names.queueUrl,
    DLQ_URL: names.dlqUrl,
    QUARANTINE_QUEUE_URL: names.quarantineQueueUrl,
    PAYLOAD_BUCKET: names.payloadBucket,
    PAYLOAD_BUCKETS: names.payloadBucket,
    INVALID_MESSAGES: options.invalidMessages,
    INVALID_RECEIVES: String(options.invalidReceives),
    EXECUTION_TIMEOUT_SECONDS: String(options.executionTimeoutSeconds),
    INBOX_TTL_SECONDS: String(options.inboxTtlSeconds),
    OUTBOX_TTL_SECONDS: String(OUTBOX_TTL_SECONDS),
    EVENT_SOURCE_ID: options.eventSourceId,
    MAX_IN_FLIGHT: options.maxInFlight === undefined ? '' : String(options.maxInFlight),
    MANIFEST_DIGEST: manifest.digest,
    PROVIDERS: options.providers.map(({ name }) => name).join(','),
    AGGREGATES: JSON.stringify(options.aggregates),
    FAILURE_CODES: options.messages.flatMap(({ failureCodes }) => failureCodes ?? []).join(','),
  };
  const { random, newId, sources, messages } = options;
  const timeoutSeconds = FUNCTION_TIMEOUT_SECONDS;
  const secret = async () => {
    if (options.providerSecret === undefined) {
      throw new ConfigurationError('The local runtime was given no secret for providers');
    }
    return options.providerSecret;
  };
  const runEffect = (provider: string): LambdaFunction => ({
    timeoutSeconds: PROVIDER_TIMEOUT_SECONDS,
    handler: createRunEffect(
      runEffectDeps(
        {
          ...options.providerEnvironment,
          ...env,
          PROVIDER: provider,
          FUNCTION_TIMEOUT_SECONDS: String(PROVIDER_TIMEOUT_SECONDS),
        },
        {
          clock,
          random,
          newId,
          telemetry,
          providers: options.providers,
          secret,
          clients,
          getObject,
          putObject,
        },
      ),
    ),
  });
  return {
    [FUNCTION_NAMES.starter]: {
      timeoutSeconds,
      handler: createStarter(
        starterDeps(env, { clock, random, newId, manifest, sources, telemetry, clients, putObject }),
      ),
    },
    [FUNCTION_NAMES.plan]: {
      timeoutSeconds,
      handler: createPlan(planDeps(env, { clock, messages, telemetry, clients, getObject, putObject })),
    },
    [FUNCTION_NAMES.commit]: {
      timeoutSeconds,
      handler: createCommit(commitDeps(env, { clock, telemetry, clients, getObject })),
    },
    [FUNCTION_NAMES.reportFailure]: {
      timeoutSeconds,
      handler: createReportFailure(reportFailureDeps(env, { telemetry, clients })),
    },
    [FUNCTION_NAMES.waker]: {
      timeoutSeconds,
      handler: createWaker(wakerDeps(env, { clock, telemetry, clients })),
    },
    [FUNCTION_NAMES.reconciler]: {
      timeoutSeconds: RECONCILER_TIMEOUT_SECONDS,
      handler: createReconciler(
        reconcilerDeps(env, { clock, newId, telemetry, clients, eventSourceControl }),
      ),
    },
    ...Object.fromEntries(options.providers.map(({ name }) => [runEffectName(name), runEffect(name)])),
  };
}
