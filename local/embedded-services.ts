import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { SFNClient } from '@aws-sdk/client-sfn';
import { SQSClient } from '@aws-sdk/client-sqs';
import { tableFolder } from './data-dir.ts';
import { createDynamoDb } from './dynamodb/dynamodb.ts';
import { createActivity } from './edge/activity.ts';
import { inProcessClientConfig, LOCAL_ACCOUNT, LOCAL_REGION } from './edge/client-config.ts';
import type { Dispatch } from './edge/http.ts';
import { createInProcessRequestHandler } from './edge/request-handler.ts';
import { createServiceRouter } from './edge/router.ts';
import type { LocalRuntimeOptions } from './runtime-options.ts';
import { createS3Dispatch, createS3Store } from './s3/index.ts';
import { createSqsDispatch, createSqsStore } from './sqs/index.ts';

type EmbeddedServicesOptions = Pick<
  LocalRuntimeOptions,
  'clock' | 'random' | 'newId' | 'dataDir' | 'faults' | 'onCall' | 'wrapServices'
> & {
  /** Step Functions and Lambda, which need the clients of the others. */
  readonly sfn: Dispatch;
  readonly lambda: Dispatch;
};

/** Clients of every embedded service. */
export interface LocalClients {
  readonly dynamodb: DynamoDBClient;
  readonly lambda: LambdaClient;
  readonly s3: S3Client;
  readonly sfn: SFNClient;
  readonly sqs: SQSClient;
}

/** The embedded services, a router over them, and clients that reach it without a socket. */
export function createEmbeddedServices(options: EmbeddedServicesOptions) {
  const { clock, random, newId, dataDir, sfn, lambda } = options;
  const activity = createActivity();
  const sqs = createSqsStore({ clock, newId, region: LOCAL_REGION, account: LOCAL_ACCOUNT });
  const s3 = createS3Store({ clock, newId });
  const dynamodb = createDynamoDb({
    clock,
    newId,
    ...(dataDir === undefined ? {} : { dataDir: tableFolder(dataDir) }),
  });
  const router = (options.wrapServices ?? ((dispatch) => dispatch))(
    createServiceRouter({
      dynamodb: (request) => dynamodb.dispatch(request),
      sqs: createSqsDispatch({ store: sqs, clock: activity.waiting(clock) }),
      s3: createS3Dispatch({ store: s3 }),
      sfn,
      lambda,
    }),
  );

  const listeners = new Set<() => void>();
  const changed = () => {
    for (const listener of [...listeners]) listener();
  };
  /** The router for those whose calls are the worker's progress: listeners are told after each. */
  const observed: Dispatch = async (request) => {
    try {
      return await router(request);
    } finally {
      changed();
    }
  };

  const configOf = (dispatch: Dispatch, faulty: boolean) =>
    inProcessClientConfig({
      requestHandler: createInProcessRequestHandler(dispatch, {
        activity,
        ...(faulty && options.faults !== undefined ? { faults: options.faults } : {}),
        ...(faulty && options.onCall !== undefined ? { onCall: options.onCall } : {}),
      }),
      clock,
      random,
      maxAttempts: 1,
    });
  const sqsClient = (config: ReturnType<typeof configOf>) =>
    new SQSClient({ ...config, useQueueUrlAsEndpoint: false });
  const clientsOf = (config: ReturnType<typeof configOf>): LocalClients => ({
    dynamodb: new DynamoDBClient(config),
    lambda: new LambdaClient(config),
    s3: new S3Client({ ...config, forcePathStyle: true }),
    sfn: new SFNClient(config),
    sqs: sqsClient(config),
  });

  return {
    activity,
    sqs,
    s3,
    dynamodb,
    /** What servers on loopback answer with. */
    observed,
    /** The worker's own calls, which may be given faults. */
    workerClients: clientsOf(configOf(observed, true)),
    /** The event sources' calls. */
    sourceClient: sqsClient(configOf(observed, false)),
    /** Everybody else's. */
    clients: clientsOf(configOf(router, false)),
    /** Tells the listeners of progress that is no call. */
    changed,
    onChange(listener: () => void): () => void {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}
