import { type CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { ITable, Table, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { type IQueue, Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { createManifest, createRegistry } from '../../lambdas/core/manifest.ts';
import { inboxTtlSeconds, providerPlaceholder } from '../../statemachines/definition.ts';
import { type Fault, throwFaults } from '../faults.ts';
import { acknowledge } from './acknowledge.ts';
import { NO_SOURCES } from './function-bundle.ts';
import { logsMayUse } from './key-policies.ts';
import { MessageQueue, queueSecurity } from './message-queue.ts';
import { PayloadBucket } from './payload-bucket.ts';
import { type FunctionDefaults, WorkerFunction, type WorkerFunctionProps } from './worker-function.ts';
import { grantPermissions } from './worker-grants.ts';
import { OUTPUT_ID, outputNames } from './worker-names.ts';
import { WorkerStateMachine } from './worker-state-machine.ts';
import { WorkerTable } from './worker-table.ts';
import { connectReconciler, connectStream } from './worker-triggers.ts';
import { findFaults } from './workflow-worker-checks.ts';
import type { WorkflowWorkerProps } from './workflow-worker-props.ts';
import {
  deadLetterQueueOf,
  domainTables,
  type ResolvedSettings,
  resolveSettings,
} from './workflow-worker-settings.ts';

const DAY_SECONDS = 24 * 60 * 60;
/** A task's time-out lies above its function's, so that Lambda's own answer comes first. */
const TASK_MARGIN_SECONDS = 30;
const OUTSIDE_VPC = { vpc: undefined, vpcSubnets: undefined, securityGroups: undefined };
const DEFAULT_PROVIDER_TIMEOUT = Duration.seconds(60);

type FunctionPart = Omit<WorkerFunctionProps, 'defaults' | 'folder'>;

/**
 * A worker: queue, starter, state machine, functions and table. Import it into an app, give it message types, and
 * messages on its queue become executions that commit once.
 */
export class WorkflowWorker extends Construct {
  /** Its name in inbox keys, logs, metrics and the command line. */
  readonly workerName: string;
  /** Where messages are sent: the worker's own queue, or the imported one. */
  readonly queue: IQueue;
  /** What could not be read or started. */
  readonly deadLetterQueue: IQueue;
  /** A notice of each case in the quarantine. */
  readonly quarantineQueue: Queue;
  /** References to the changes of the table that the waker could not deal with. */
  readonly streamFailureQueue: Queue;
  /** Inbox, aggregates, effects and quarantine: the worker's own table, or the imported one. */
  readonly table: ITable | Table | TableV2;
  /** Payloads that are too large for an execution or kept out of histories. */
  readonly payloadBucket: Bucket;
  readonly stateMachine: WorkerStateMachine;
  /** Makes messages executions. */
  readonly starter: WorkerFunction;
  /** Runs the handlers. */
  readonly plan: WorkerFunction;
  /** Writes what was planned. */
  readonly commit: WorkerFunction;
  /** Ends failed executions under their failure's code. */
  readonly reportFailure: WorkerFunction;
  /** Wakes executions that wait, by the table's stream. */
  readonly waker: WorkerFunction;
  /** Ends what closed without an end, and owns the circuit breaker. */
  readonly reconciler: WorkerFunction;
  /** RunEffect's functions, by provider. */
  readonly providers: Readonly<Record<string, WorkerFunction>>;
  /** Between the queue and the starter. */
  readonly eventSource: EventSourceMapping;
  /** JSON map of names and ARNs: what the command line finds a deployed worker by. */
  readonly output: CfnOutput;

  readonly #props: WorkflowWorkerProps;
  readonly #published: Record<string, string> = {};
  readonly #settings: ResolvedSettings;
  readonly #defaults: FunctionDefaults;

  /** @throws ConfigurationError naming every fault of the props, with rule and remedy */
  constructor(scope: Construct, id: string, props: WorkflowWorkerProps) {
    super(scope, id);
    throwFaults(this.node.path, findWorkerFaults(this, id, props));
    const settings = resolveSettings(id, props);
    const { production } = settings;
    const manifest = createManifest(createRegistry(props.messages));
    const removalPolicy = production ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
    const { encryptionKey } = props;
    this.#props = props;
    this.#settings = settings;
    this.workerName = settings.workerName;
    this.#defaults = {
      workerName: settings.workerName,
      release: props.release ?? manifest.digest.slice(0, 12),
      logRetention: props.logRetention ?? (production ? RetentionDays.THREE_MONTHS : RetentionDays.ONE_WEEK),
      removalPolicy,
      encryptionKey,
      telemetry: props.telemetry,
      vpc: props.vpc,
      vpcSubnets: props.vpcSubnets,
      securityGroups: props.securityGroups,
    };

    [this.queue, this.deadLetterQueue] = this.#queues(removalPolicy);
    const aside = {
      ...queueSecurity(encryptionKey),
      removalPolicy,
      retentionPeriod: settings.dlqRetention,
    };
    this.quarantineQueue = new Queue(this, 'Quarantine', aside);
    this.streamFailureQueue = new Queue(this, 'StreamFailures', aside);
    for (const queue of [this.quarantineQueue, this.streamFailureQueue]) {
      acknowledge(queue, {
        SQS3: 'People take from it, and an alarm tells them: nothing fails on its way out.',
      });
    }
    this.table =
      props.table ??
      new WorkerTable(this, 'Table', { deletionProtection: production, removalPolicy, encryptionKey }).table;
    const executionSeconds = settings.executionTimeout.toSeconds();
    this.payloadBucket = new PayloadBucket(this, 'Payloads', {
      retentionDays:
        props.payloadRetentionDays ??
        settings.inboxRetentionDays + Math.ceil(executionSeconds / DAY_SECONDS) + 16,
      removalPolicy,
      encryptionKey,
    }).bucket;
    const inboxTtl = String(inboxTtlSeconds(settings.inboxRetentionDays, executionSeconds));
    const base = { TABLE_NAME: this.table.tableName };

    this.plan = this.#function('Plan', 'plan', {
      description: 'Runs the handler and returns what is to be written; writes nothing',
      timeout: settings.stepTimeout,
      modules: { 'stepwell-messages': props.messagesEntry },
      environment: {
        ...base,
        MANIFEST_DIGEST: manifest.digest,
        ...this.#aggregates(),
        PAYLOAD_BUCKET: this.payloadBucket.bucketName,
        PAYLOAD_BUCKETS: [this.payloadBucket, ...(props.payloadBuckets ?? [])]
          .map(({ bucketName }) => bucketName)
          .join(','),
        PROVIDERS: settings.providers.map(({ name }) => name).join(','),
      },
    });
    this.commit = this.#function('Commit', 'commit', {
      description: 'Writes a plan in one guarded transaction; runs no domain code',
      timeout: settings.stepTimeout,
      environment: {
        ...base,
        INBOX_TTL_SECONDS: inboxTtl,
        OUTBOX_TTL_SECONDS: String(settings.outboxRetentionDays * DAY_SECONDS),
      },
    });
    this.reportFailure = this.#function('ReportFailure', 'report-failure', {
      description: 'Fails an execution under its failure’s own code, and begins its replay',
      timeout: settings.stepTimeout,
      environment: {
        ...base,
        FAILURE_CODES: props.messages.flatMap(({ failureCodes }) => failureCodes ?? []).join(','),
      },
    });
    this.providers = this.#providerFunctions(inboxTtl);

    this.stateMachine = new WorkerStateMachine(this, 'StateMachine', {
      numbers: {
        executionTimeoutSeconds: executionSeconds,
        inboxTtlSeconds: Number(inboxTtl),
        planTimeoutSeconds: settings.stepTimeout.toSeconds() + TASK_MARGIN_SECONDS,
        commitTimeoutSeconds: settings.stepTimeout.toSeconds() + TASK_MARGIN_SECONDS,
        runEffectTimeoutSeconds: Math.max(0, ...this.#providerTimeouts()) + TASK_MARGIN_SECONDS,
        resolutionTimeoutSeconds: settings.resolutionTimeout.toSeconds(),
      },
      providers: settings.providers.map(({ name }) => name),
      substitutions: {
        PlanFunctionArn: this.plan.function.functionArn,
        CommitFunctionArn: this.commit.function.functionArn,
        ReportFailureFunctionArn: this.reportFailure.function.functionArn,
        TableName: this.table.tableName,
        WorkerName: this.workerName,
        QuarantineQueueUrl: this.quarantineQueue.queueUrl,
        ...Object.fromEntries(
          Object.entries(this.providers).map(([name, provider]) => [
            providerPlaceholder(name),
            provider.function.functionArn,
          ]),
        ),
      },
      functionArns: [this.plan, this.commit, this.reportFailure, ...Object.values(this.providers)].map(
        (part) => part.function.functionArn,
      ),
      tableArn: this.table.tableArn,
      quarantineQueueArn: this.quarantineQueue.queueArn,
      logExecutionData: props.logExecutionData ?? false,
      logRetention: this.#defaults.logRetention,
      removalPolicy,
      encryptionKey,
    });
    const { stateMachineArn } = this.stateMachine.stateMachine;
    const limit = props.maxInFlight === undefined ? {} : { MAX_IN_FLIGHT: String(props.maxInFlight) };

    this.starter = this.#function('Starter', 'starter', {
      description: 'Makes each message of the queue an execution named after its idempotency key',
      timeout: settings.functionTimeout,
      reservedConcurrency: props.reservedConcurrency,
      modules: { 'stepwell-sources': props.sourcesEntry ?? NO_SOURCES },
      files: { 'manifest.json': JSON.stringify(manifest) },
      environment: {
        ...props.sourcesEnvironment,
        ...base,
        ...limit,
        STATE_MACHINE_ARN: stateMachineArn,
        QUEUE_URL: this.queue.queueUrl,
        DLQ_URL: this.deadLetterQueue.queueUrl,
        QUARANTINE_QUEUE_URL: this.quarantineQueue.queueUrl,
        INVALID_MESSAGES: settings.invalidMessages,
        INVALID_RECEIVES: String(settings.invalidReceives),
        PAYLOAD_BUCKET: this.payloadBucket.bucketName,
        EXECUTION_TIMEOUT_SECONDS: String(executionSeconds),
      },
    });
    this.eventSource = new EventSourceMapping(this, 'Messages', {
      target: this.starter.function,
      eventSourceArn: this.queue.queueArn,
      batchSize: settings.batchSize,
      maxConcurrency: settings.maxConcurrency,
      reportBatchItemFailures: true,
      ...(settings.maxBatchingWindow.toSeconds() === 0
        ? {}
        : { maxBatchingWindow: settings.maxBatchingWindow }),
    });
    this.waker = this.#function('Waker', 'waker', {
      description: 'Wakes parked executions whose turn has come, and counts what is in flight',
      timeout: Duration.seconds(60),
      environment: { ...base, ...limit },
    });
    this.reconciler = this.#function('Reconciler', 'reconciler', {
      description: 'Gives work an end whose execution closed without one, and owns the circuit breaker',
      timeout: Duration.minutes(4),
      environment: {
        ...base,
        ...limit,
        STATE_MACHINE_ARN: stateMachineArn,
        QUARANTINE_QUEUE_URL: this.quarantineQueue.queueUrl,
        INBOX_TTL_SECONDS: inboxTtl,
        EXECUTION_TIMEOUT_SECONDS: String(executionSeconds),
        EVENT_SOURCE_ID: this.eventSource.eventSourceMappingId,
      },
    });
    connectStream(this, { manifest, inFlightLimit: props.maxInFlight !== undefined });
    connectReconciler(this);
    grantPermissions(this, props, settings);
    if (encryptionKey !== undefined) logsMayUse(this, encryptionKey);
    this.output = outputNames(this, this.#published);
  }

  /**
   * Adds a name to the map that the command line reads, e.g. the dashboard's. What lies in another stack is left
   * out: that stack needs this one, and neither could be deployed before the other.
   */
  publishName(name: string, value: string, from: Construct): void {
    if (Stack.of(from) === Stack.of(this)) this.#published[name] = value;
  }

  #queues(removalPolicy: RemovalPolicy): [IQueue, IQueue] {
    const { queue, encryptionKey } = this.#props;
    const settings = this.#settings;
    const deadLetterQueue = deadLetterQueueOf(this.#props);
    if (queue !== undefined && deadLetterQueue !== undefined) return [queue, deadLetterQueue];
    const queues = new MessageQueue(this, 'Queue', {
      fifo: settings.fifo,
      visibilityTimeout: settings.visibilityTimeout,
      retention: settings.queueRetention,
      dlqRetention: settings.dlqRetention,
      maxReceiveCount: settings.maxReceiveCount,
      encryptionKey,
      removalPolicy,
    });
    return [queues.queue, queues.deadLetterQueue];
  }

  #function(id: string, folder: string, part: FunctionPart): WorkerFunction {
    return new WorkerFunction(this, id, { ...part, folder, defaults: this.#defaults });
  }

  #providerTimeouts(): readonly number[] {
    return this.#settings.providers.map(({ name }) =>
      (this.#props.providerSettings?.[name]?.timeout ?? DEFAULT_PROVIDER_TIMEOUT).toSeconds(),
    );
  }

  /** One function a provider, so that no provider's code holds another's rights. */
  #providerFunctions(inboxTtl: string): Readonly<Record<string, WorkerFunction>> {
    const { providersEntry, providerSettings = {} } = this.#props;
    if (providersEntry === undefined) return {};
    const parts = this.#settings.providers.map(({ name }) => {
      const own = providerSettings[name] ?? {};
      const timeout = own.timeout ?? DEFAULT_PROVIDER_TIMEOUT;
      const part = new WorkerFunction(this, `RunEffect${name}`, {
        folder: 'run-effect',
        defaults: own.inVpc === false ? { ...this.#defaults, ...OUTSIDE_VPC } : this.#defaults,
        description: `Carries out effects at ${name}, once each`,
        timeout,
        reservedConcurrency: own.reservedConcurrency,
        ...(own.memorySize === undefined ? {} : { memorySize: own.memorySize }),
        modules: { 'stepwell-providers': own.entry ?? providersEntry },
        environment: {
          ...own.environment,
          TABLE_NAME: this.table.tableName,
          PROVIDER: name,
          FUNCTION_TIMEOUT_SECONDS: String(timeout.toSeconds()),
          PAYLOAD_BUCKET: this.payloadBucket.bucketName,
          EFFECT_TTL_SECONDS: inboxTtl,
          ...(own.secret === undefined ? {} : { SECRET_ID: own.secret.secretArn }),
        },
      });
      for (const statement of own.policy ?? []) part.role.addToPrincipalPolicy(statement);
      return [name, part] as const;
    });
    return Object.fromEntries(parts);
  }

  /** Names and keys of the domain's tables, as Plan reads them. */
  #aggregates(): Readonly<Record<string, string>> {
    if (this.#props.aggregates === undefined) return {};
    return { AGGREGATES: Stack.of(this).toJsonString(domainTables(this.#props)) };
  }
}

/**
 * Everything that is wrong with the props of a worker.
 * @param scope the worker, or what it is to stand in
 */
export function findWorkerFaults(scope: Construct, id: string, props: WorkflowWorkerProps): readonly Fault[] {
  const workers = scope.node.root.node.findAll().filter((other) => other instanceof WorkflowWorker);
  // The output comes last: a worker that was refused, and this one, have none yet.
  const neighbours = workers.filter(({ node }) => node.tryFindChild(OUTPUT_ID) !== undefined);
  return findFaults(scope, props, neighbours, id);
}
