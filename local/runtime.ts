import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { SFNClient } from '@aws-sdk/client-sfn';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { Clock, NewId, Random } from '../lambdas/core/clock.ts';
import type { DomainTables } from '../lambdas/core/domain-table.ts';
import type { AnyMessageDefinition } from '../lambdas/core/message-type.ts';
import type { ProviderDefinition } from '../lambdas/core/provider.ts';
import type { Source } from '../lambdas/core/sources.ts';
import { streamFilters } from '../lambdas/core/stream.ts';
import { SILENT, type Telemetry } from '../lambdas/core/telemetry.ts';
import {
  DEFAULT_NUMBERS,
  type DefinitionNumbers,
  providerPlaceholder,
  renderDefinition,
  substitute,
} from '../statemachines/definition.ts';
import type { StreamRecord } from './dynamodb/change-stream.ts';
import { createDynamoDb } from './dynamodb/dynamodb.ts';
import { createActivity } from './edge/activity.ts';
import { inProcessClientConfig, LOCAL_ACCOUNT, LOCAL_REGION } from './edge/client-config.ts';
import type { FaultInjector } from './edge/faults.ts';
import type { Dispatch } from './edge/http.ts';
import { type EdgeServer, listenOnLoopback } from './edge/http-server.ts';
import { createInProcessRequestHandler } from './edge/request-handler.ts';
import { createServiceRouter } from './edge/router.ts';
import type { ServiceCall } from './edge/service-call.ts';
import {
  createLambdaDispatch,
  createLambdaInvoker,
  createPipe,
  createScheduler,
  createSqsEventSource,
  createStreamEventSource,
  type DeliveryFault,
  functionArn,
  type LambdaFunction,
  type StreamReader,
} from './event-sources/index.ts';
import { statusChangeEvent } from './event-sources/status-change-event.ts';
import { FUNCTION_NAMES, runEffectName, type WorkerFunctionsOptions, workerFunctions } from './functions.ts';
import { localNames, queueNameOf, type WorkerNames } from './names.ts';
import { createInputQueues, createResources } from './resources.ts';
import { createS3Dispatch, createS3Store } from './s3/index.ts';
import { createSqsDispatch, createSqsStore } from './sqs/index.ts';
import { readState, writeState } from './state-file.ts';
import { createTaskServices } from './stepfunctions/services/create-task-services.ts';
import { createStepFunctions, type StepFunctions } from './stepfunctions/step-functions.ts';

export interface LocalRuntimeOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  readonly messages: readonly AnyMessageDefinition[];
  /** @default none */
  readonly sources?: readonly Source[];
  /** Effect providers; each runs in a function of its own. @default none */
  readonly providers?: readonly ProviderDefinition[];
  /** What the providers' functions find in their environment: endpoints and settings. @default nothing */
  readonly providerEnvironment?: Readonly<Record<string, string>>;
  /** What every provider is given as its secret. @default none: asking for one fails */
  readonly providerSecret?: string;
  /** Aggregates that live in tables of their own, by type. @default all live in the worker's table */
  readonly aggregates?: DomainTables;
  /** @default 'stepwell' */
  readonly workerName?: string;
  /** A FIFO queue instead of a standard one. @default false */
  readonly fifo?: boolean;
  /** @default 100 */
  readonly maxReceiveCount?: number;
  /** @default 'dlq' */
  readonly invalidMessages?: 'dlq' | 'quarantine';
  /** @default 3 */
  readonly invalidReceives?: number;
  /** Most starter invocations at once. @default 5 */
  readonly maxConcurrency?: number;
  /** Most executions at work at once; parked, deferred and in-doubt ones are not. @default no limit */
  readonly maxInFlight?: number;
  /** @default 10 */
  readonly batchSize?: number;
  readonly numbers?: Partial<DefinitionNumbers>;
  /** Where log lines and metrics go. @default nowhere */
  readonly telemetry?: Telemetry;
  /** Where state is kept across restarts. @default in memory */
  readonly dataDir?: string;
  /** For tests: the fate of each call that a function or a state makes. @default all go through */
  readonly faults?: FaultInjector;
  /** Told of every call that reaches a service, e.g. to count what a message costs. */
  readonly onCall?: (call: ServiceCall) => void;
  /** Stands around the embedded services, e.g. to meter what every call uses, the event sources' too. @default nothing */
  readonly wrapServices?: (dispatch: Dispatch) => Dispatch;
  /** Told of every invocation of a function. */
  readonly onInvoke?: (functionName: string) => void;
  /** Quota of StartExecution: bucket and refill per second. @default none */
  readonly startThrottle?: { readonly bucket: number; readonly refillPerSecond: number };
  /** Replaces or adds functions, e.g. handlers that a test deploys in the middle of a run. */
  readonly functions?: Readonly<Record<string, LambdaFunction>>;
  /** Where the outbox pipe sends the table's events. @default no pipe */
  readonly outbox?: {
    readonly queueUrl: string;
    /** Of the runtime that has the queue. @default this one's */
    readonly client?: SQSClient;
    /** For tests: what becomes of a batch of events. @default 'none' */
    readonly deliver?: (records: readonly StreamRecord[]) => DeliveryFault;
  };
  /** Further queues of the same worker, each with a dead-letter queue and a starter of its own. @default none */
  readonly inputs?: readonly InputOptions[];
  /** For tests: what becomes of each batch of table changes before the waker gets it. @default 'none' */
  readonly deliverChanges?: (records: readonly StreamRecord[]) => DeliveryFault;
  /** Seconds between the reconciler's sweeps; 0 for none, e.g. where nothing may keep time going. @default 300 */
  readonly sweepSeconds?: number;
  /** For tests: what becomes of the events that tell of executions which closed without success. @default 'deliver' */
  readonly statusEvents?: 'deliver' | 'lose';
  /** Told of faults of the runtime itself. */
  readonly onError?: (error: unknown) => void;
}

/** A further queue that leads to the same worker. An invalid message is left to the queue's own redrive policy. */
export interface InputOptions {
  readonly queueName: string;
  readonly maxReceiveCount: number;
  /** Where this queue's starter writes. @default nowhere */
  readonly telemetry?: Telemetry;
}

/** Where a further queue and its dead-letter queue are. */
export interface InputQueues {
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly dlqUrl: string;
}

/** A whole worker in one process: the deployed definition and handlers against embedded services. */
export interface LocalRuntime {
  readonly names: WorkerNames;
  /** The further queues, in the order of the options. */
  readonly inputs: readonly InputQueues[];
  readonly clients: {
    readonly dynamodb: DynamoDBClient;
    readonly lambda: LambdaClient;
    readonly s3: S3Client;
    readonly sfn: SFNClient;
    readonly sqs: SQSClient;
  };
  readonly stepFunctions: StepFunctions;
  /** How many calls are under way, so that virtual time moves only when there are none. */
  inFlight(): number;
  /** Whether the queue is empty and no execution runs. */
  isIdle(): boolean;
  /** Serves every embedded service on one loopback port. */
  listen(port?: number): Promise<EdgeServer>;
  /** Takes new handlers from now on, as a deployment does: running executions go on with them. */
  deploy(messages: readonly AnyMessageDefinition[]): void;
  /** Writes the state to the data directory, if there is one, so that a crash loses only what came after. */
  save(): Promise<void>;
  /** Stops taking up work, keeps the state when there is a data directory, and closes. */
  stop(): Promise<void>;
}

/** Starts the worker. */
export async function startRuntime(options: LocalRuntimeOptions): Promise<LocalRuntime> {
  const { clock, random, newId, fifo = false, telemetry = SILENT, providers = [] } = options;
  const onError = options.onError ?? (() => {});
  const names = localNames(options.workerName ?? 'stepwell', fifo);
  const numbers = { ...DEFAULT_NUMBERS, ...options.numbers };
  const kept = options.dataDir === undefined ? undefined : await readState(options.dataDir);

  const activity = createActivity();
  const sqs = createSqsStore({ clock, newId, region: LOCAL_REGION, account: LOCAL_ACCOUNT });
  const s3 = createS3Store({ clock, newId });
  const dynamodb = createDynamoDb({
    clock,
    newId,
    ...(options.dataDir === undefined ? {} : { dataDir: `${options.dataDir}/dynamodb` }),
  });
  const services = {
    dynamodb: (request: Parameters<typeof dynamodb.dispatch>[0]) => dynamodb.dispatch(request),
    sqs: createSqsDispatch({ store: sqs, clock: activity.waiting(clock) }),
    s3: createS3Dispatch({ store: s3 }),
    sfn: (request: Parameters<typeof stepFunctions.dispatch>[0]) => stepFunctions.dispatch(request),
    lambda: (request: Parameters<typeof lambdaApi>[0]) => lambdaApi(request),
  };
  const router = (options.wrapServices ?? ((dispatch) => dispatch))(createServiceRouter(services));

  const config = (faulty: boolean) =>
    inProcessClientConfig({
      requestHandler: createInProcessRequestHandler(router, {
        activity,
        ...(faulty && options.faults !== undefined ? { faults: options.faults } : {}),
        ...(faulty && options.onCall !== undefined ? { onCall: options.onCall } : {}),
      }),
      clock,
      random,
      maxAttempts: 1,
    });
  const clientsOf = (faulty: boolean) => ({
    dynamodb: new DynamoDBClient(config(faulty)),
    lambda: new LambdaClient(config(faulty)),
    s3: new S3Client({ ...config(faulty), forcePathStyle: true }),
    sfn: new SFNClient(config(faulty)),
    sqs: new SQSClient({ ...config(faulty), useQueueUrlAsEndpoint: false }),
  });
  /** The worker's own calls, which may be given faults, and everybody else's, which are not. */
  const workerClients = clientsOf(true);
  const clients = clientsOf(false);

  let messages = options.messages;
  const eventSourceId = newId();
  const inputs = (options.inputs ?? []).map((input) => {
    const { queueUrl, queueArn, dlqUrl } = localNames(input.queueName, false);
    return {
      ...input,
      queueUrl,
      queueArn,
      dlqUrl,
      functionName: `${FUNCTION_NAMES.starter}-${input.queueName}`,
    };
  });
  const buildFor = (overrides: Partial<WorkerFunctionsOptions>) =>
    workerFunctions({
      clock,
      random,
      newId,
      telemetry,
      names,
      messages,
      sources: options.sources ?? [],
      providers,
      providerEnvironment: options.providerEnvironment ?? {},
      providerSecret: options.providerSecret,
      aggregates: options.aggregates ?? {},
      invalidMessages: options.invalidMessages ?? 'dlq',
      invalidReceives: options.invalidReceives ?? 3,
      executionTimeoutSeconds: numbers.executionTimeoutSeconds,
      inboxTtlSeconds: numbers.inboxTtlSeconds,
      eventSourceId,
      maxInFlight: options.maxInFlight,
      clients: workerClients,
      ...overrides,
    });
  const build = () => {
    const functions: Record<string, LambdaFunction> = { ...buildFor({}) };
    for (const { functionName, maxReceiveCount, queueUrl, queueArn, dlqUrl, ...input } of inputs) {
      const { [FUNCTION_NAMES.starter]: starter } = buildFor({
        names: { ...names, queueUrl, queueArn, dlqUrl },
        telemetry: input.telemetry ?? SILENT,
        invalidMessages: 'dlq',
        // Above what the queue allows: the queue's own redrive policy moves the message.
        invalidReceives: maxReceiveCount + 1,
      });
      if (starter !== undefined) functions[functionName] = starter;
    }
    return { ...functions, ...options.functions };
  };
  const functions: Record<string, LambdaFunction> = build();
  const lambdas = createLambdaInvoker({ clock, newId, functions });
  const invoker: typeof lambdas = {
    ...lambdas,
    invoke(functionName, event) {
      options.onInvoke?.(functionName);
      return lambdas.invoke(functionName, event);
    },
  };
  const stepFunctions = createStepFunctions({
    clock,
    random,
    newId,
    services: createTaskServices({ clients: workerClients, lambdas: invoker, newId }),
    ...(options.startThrottle === undefined ? {} : { throttles: { startExecution: options.startThrottle } }),
    onStatusChange(change) {
      const event = statusChangeEvent(change, { newId, now: clock.now() });
      if (options.statusEvents === 'lose' || event === undefined) return;
      invoker.invokeAsync(FUNCTION_NAMES.reconciler, event);
    },
  });

  if (kept !== undefined) {
    sqs.restore(kept.sqs);
    s3.restore(kept.s3);
  }
  await createResources({
    names,
    fifo,
    maxReceiveCount: options.maxReceiveCount ?? 100,
    sqs,
    s3,
    dynamodb: clients.dynamodb,
  });
  for (const input of inputs) createInputQueues(sqs, input);
  if (kept !== undefined) stepFunctions.restore(kept.stepFunctions);
  stepFunctions.addStateMachine({
    name: names.workerName,
    definition: substitute(renderDefinition({ numbers, providers: providers.map(({ name }) => name) }), {
      PlanFunctionArn: functionArn(FUNCTION_NAMES.plan),
      CommitFunctionArn: functionArn(FUNCTION_NAMES.commit),
      ReportFailureFunctionArn: functionArn(FUNCTION_NAMES.reportFailure),
      ...Object.fromEntries(
        providers.map(({ name }) => [providerPlaceholder(name), functionArn(runEffectName(name))]),
      ),
      TableName: names.tableName,
      WorkerName: names.workerName,
      QuarantineQueueUrl: names.quarantineQueueUrl,
    }),
  });

  const main = { ...names, functionName: FUNCTION_NAMES.starter, uuid: eventSourceId };
  const sources = [main, ...inputs.map((input) => ({ ...input, uuid: newId() }))].map(
    ({ queueUrl, queueArn, functionName, uuid }) =>
      createSqsEventSource({
        clock,
        client: clients.sqs,
        uuid,
        queueUrl,
        queueArn,
        functionName,
        invoke: (event) => invoker.invoke(functionName, event),
        batchSize: options.batchSize ?? 10,
        maxConcurrency: options.maxConcurrency ?? 5,
        signals: sqs.signals(queueNameOf(queueUrl)),
        onError,
      }),
  );
  const reader: StreamReader<StreamRecord> = {
    read: (afterSequenceNumber, limit) =>
      dynamodb.readStream({ tableName: names.tableName, afterSequenceNumber, limit }).records,
    onChange: (listener) =>
      dynamodb.onChange((tableName) => {
        if (tableName === names.tableName) listener();
      }),
  };
  const waker = createStreamEventSource({
    clock,
    reader,
    functionName: FUNCTION_NAMES.waker,
    invoke: (event) => invoker.invoke(FUNCTION_NAMES.waker, event),
    filters: streamFilters({ inFlightLimit: options.maxInFlight !== undefined }),
    reportBatchItemFailures: true,
    bisectBatchOnFunctionError: true,
    ...(kept?.wakerPosition === undefined ? {} : { startAfter: kept.wakerPosition }),
    ...(options.deliverChanges === undefined ? {} : { deliver: options.deliverChanges }),
    onError,
  });
  const { outbox } = options;
  const pipe =
    outbox === undefined
      ? undefined
      : createPipe({
          clock,
          newId,
          reader,
          client: outbox.client ?? clients.sqs,
          queueUrl: outbox.queueUrl,
          ...(kept?.pipePosition === undefined ? {} : { startAfter: kept.pipePosition }),
          ...(outbox.deliver === undefined ? {} : { deliver: outbox.deliver }),
          onError,
        });
  const { sweepSeconds = 300 } = options;
  const schedule =
    sweepSeconds === 0
      ? undefined
      : createScheduler({
          clock,
          newId,
          name: `${names.workerName}-reconciler`,
          rateSeconds: sweepSeconds,
          invoke: (event) => invoker.invoke(FUNCTION_NAMES.reconciler, event),
          onError,
        });
  const lambdaApi = createLambdaDispatch({ clock, mappings: () => sources, invoker });

  const servers: EdgeServer[] = [];
  const runtime: LocalRuntime = {
    names,
    inputs: inputs.map(({ queueUrl, queueArn, dlqUrl }) => ({ queueUrl, queueArn, dlqUrl })),
    clients,
    stepFunctions,
    inFlight: () => activity.inFlight(),
    isIdle: () =>
      sqs.nextVisibleAt(queueNameOf(names.queueUrl)) === undefined && stepFunctions.running() === 0,
    async listen(port = 0) {
      const server = await listenOnLoopback(router, { port, onError });
      servers.push(server);
      return server;
    },
    deploy(next) {
      messages = next;
      Object.assign(functions, build());
    },
    async save() {
      if (options.dataDir === undefined) return;
      await writeState(options.dataDir, {
        sqs: sqs.snapshot(),
        s3: s3.snapshot(),
        stepFunctions: stepFunctions.snapshot(),
        wakerPosition: waker.position(),
        pipePosition: pipe?.position() ?? kept?.pipePosition,
      });
    },
    async stop() {
      await Promise.all(sources.map((source) => source.stop()));
      await waker.stop();
      await schedule?.stop();
      await pipe?.stop();
      stepFunctions.halt();
      await Promise.all(servers.map((server) => server.close()));
      await runtime.save();
      await dynamodb.close();
    },
  };
  return runtime;
}
