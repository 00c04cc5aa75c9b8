import type { AnyMessageDefinition } from '../lambdas/core/message-type.ts';
import { openDataDir, writeState } from './data-dir.ts';
import type { Deployment, DeploymentPlace } from './deployment.ts';
import type { StreamRecord } from './dynamodb/change-stream.ts';
import { type EdgeServer, listenOnLoopback } from './edge/http-server.ts';
import { createEmbeddedServices, type LocalClients } from './embedded-services.ts';
import {
  createLambdaDispatch,
  createLambdaInvoker,
  createPipe,
  createScheduler,
  createSqsEventSource,
  createStreamEventSource,
  type LambdaFunction,
  type StreamReader,
} from './event-sources/index.ts';
import { statusChangeEvent } from './event-sources/status-change-event.ts';
import { FUNCTION_NAMES } from './functions.ts';
import { inProcessDeployment } from './in-process-deployment.ts';
import { localNames, queueNameOf, type WorkerNames } from './names.ts';
import { createInputQueues, createResources } from './resources.ts';
import type { InputQueues, LocalRuntimeOptions } from './runtime-options.ts';
import { createTaskServices } from './stepfunctions/services/create-task-services.ts';
import { createStepFunctions, type StepFunctions } from './stepfunctions/step-functions.ts';

export type { LocalRuntimeOptions } from './runtime-options.ts';

/** A whole worker in one process: the deployed definition and handlers against embedded services. */
export interface LocalRuntime {
  readonly names: WorkerNames;
  /** The further queues, in the order of the options. */
  readonly inputs: readonly InputQueues[];
  readonly clients: LocalClients;
  readonly stepFunctions: StepFunctions;
  /** How many calls are under way, so that virtual time moves only when there are none. */
  inFlight(): number;
  /** Whether the queue is empty and no execution runs. */
  isIdle(): boolean;
  /**
   * Calls the listener after every call that the worker, its event sources or somebody on loopback made, and at every
   * change of an execution's status, so that nobody who waits has to poll. Calls through {@link clients} do not count.
   * @returns a function that ends it
   */
  onChange(listener: () => void): () => void;
  /** Serves every embedded service on one loopback port. */
  listen(port?: number): Promise<EdgeServer>;
  /**
   * Deploys new handlers, and with a {@link Deployment} a new definition. Running executions go on with the new handlers
   * and on their own definition.
   */
  deploy(next: readonly AnyMessageDefinition[] | Deployment): void;
  /** Writes the state to the data directory, if there is one, so that a crash loses only what came after. */
  save(): Promise<void>;
  /** Stops taking up work, keeps the state when there is a data directory, and closes. */
  stop(): Promise<void>;
}

/** Starts the worker. */
export async function startRuntime(options: LocalRuntimeOptions): Promise<LocalRuntime> {
  const { clock, random, newId, fifo = false } = options;
  const onError = options.onError ?? (() => {});
  const names = localNames(options.workerName ?? 'stepwell', fifo);
  const kept = options.dataDir === undefined ? undefined : await openDataDir(options.dataDir);

  const embedded = createEmbeddedServices({
    ...options,
    sfn: (request) => stepFunctions.dispatch(request),
    lambda: (request) => lambdaApi(request),
  });
  const { activity, sqs, s3, dynamodb, workerClients, clients } = embedded;

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
  const servers: EdgeServer[] = [];
  const listen = async (port = 0) => {
    const server = await listenOnLoopback(embedded.observed, { port, onError });
    servers.push(server);
    return server;
  };
  const inProcess = (messages: readonly AnyMessageDefinition[]) =>
    inProcessDeployment(messages, options, { names, inputs, eventSourceId, clients: workerClients });
  const deployment = await deployedIn(options, { names, eventSourceId, listen }, inProcess);
  const deployments = [deployment];
  const functions: Record<string, LambdaFunction> = { ...deployment.functions, ...options.functions };
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
      embedded.changed();
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
  stepFunctions.addStateMachine({ name: names.workerName, definition: deployment.definition });

  const main = { ...names, functionName: FUNCTION_NAMES.starter, uuid: eventSourceId };
  const sources = [main, ...inputs.map((input) => ({ ...input, uuid: newId() }))].map(
    ({ queueUrl, queueArn, functionName, uuid }) =>
      createSqsEventSource({
        clock,
        client: embedded.sourceClient,
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
    filters: deployment.streamFilters,
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
          client: outbox.client ?? embedded.sourceClient,
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

  const runtime: LocalRuntime = {
    names,
    inputs: inputs.map(({ queueUrl, queueArn, dlqUrl }) => ({ queueUrl, queueArn, dlqUrl })),
    clients,
    stepFunctions,
    inFlight: () => activity.inFlight(),
    isIdle: () =>
      sqs.nextVisibleAt(queueNameOf(names.queueUrl)) === undefined && stepFunctions.running() === 0,
    onChange: (listener) => embedded.onChange(listener),
    listen,
    deploy(next) {
      if ('functions' in next) {
        deployments.push(next);
        stepFunctions.updateStateMachine(names.stateMachineArn, next.definition);
      }
      const deployed = 'functions' in next ? next : inProcess(next);
      Object.assign(functions, deployed.functions, options.functions);
      waker.setFilters(deployed.streamFilters);
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
      await Promise.all(deployments.map((deployed) => deployed.stop()));
      await Promise.all(servers.map((server) => server.close()));
      await runtime.save();
      await dynamodb.close();
    },
  };
  await runtime.save();
  return runtime;
}

/** The deployment of the options, or else the one that is built here. Its server is closed when it fails. */
async function deployedIn(
  { deployment, messages = [] }: LocalRuntimeOptions,
  place: Omit<DeploymentPlace, 'endpoint'> & { readonly listen: () => Promise<EdgeServer> },
  inProcess: (messages: readonly AnyMessageDefinition[]) => Deployment,
): Promise<Deployment> {
  if (deployment === undefined) return inProcess(messages);
  const { names, eventSourceId, listen } = place;
  const server = await listen();
  try {
    return await deployment({ names, eventSourceId, endpoint: server.url });
  } catch (error) {
    await server.close();
    throw error;
  }
}
