import type { Duration } from 'aws-cdk-lib';
import type { ITable, Table, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Bucket, IBucket } from 'aws-cdk-lib/aws-s3';
import type { ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { AnyMessageDefinition } from '../../lambdas/core/message-type.ts';
import type { ProviderDefinition } from '../../lambdas/core/provider.ts';
import type { FunctionTelemetry } from './worker-function.ts';

/** What one provider's function has beside the others. */
export interface ProviderSettings {
  /**
   * Absolute path of a module that exports `providers` with this one in it. Its function then carries the code of no
   * other provider that is not in there.
   * @default providersEntry
   */
  readonly entry?: string;
  /**
   * Time-out of the provider's function, 5–900 seconds. An effect's lease is this and 30 seconds.
   * @default Duration.seconds(60)
   */
  readonly timeout?: Duration;
  /**
   * MB, 128–10,240. CPU grows with it.
   * @default 512
   */
  readonly memorySize?: number;
  /**
   * Caps the calls that the provider sees side by side; from 1.
   * @default none: shares the account's concurrency
   */
  readonly reservedConcurrency?: number;
  /**
   * The provider's secret, which its function alone may read.
   * @default none
   */
  readonly secret?: ISecret | Secret;
  /**
   * Settings and endpoints of the provider. At most 2,048 bytes.
   * @default none
   */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * What the provider's code may call on AWS, e.g. `ses:SendEmail` on one identity.
   * @default none
   */
  readonly policy?: readonly PolicyStatement[];
  /**
   * Runs the provider's function in the worker's `vpc`.
   * @default true when the worker has a `vpc`
   */
  readonly inVpc?: boolean;
}

/** A table of the domain that was there before the worker. */
export interface AggregateTable {
  /** The table, in the worker's account and Region. */
  readonly table: ITable | Table | TableV2;
  /**
   * Name of the string partition key that holds the aggregate id, or a template for each key attribute:
   * `{ pk: 'CASE#{aggregateId}', sk: 'CASE' }`.
   */
  readonly key: string | Readonly<Record<string, string>>;
  /** A number that every writer of the table counts up on condition that it is as read. */
  readonly versionAttribute: string;
}

/** Properties of `WorkflowWorker`. */
export interface WorkflowWorkerProps {
  /** The message types, as `messagesEntry` exports them. The starter is told their names and orderings. */
  readonly messages: readonly AnyMessageDefinition[];

  /** Absolute path of the module that exports `messages`. It is bundled into Plan. */
  readonly messagesEntry: string;

  /**
   * The effect providers, as `providersEntry` exports them. Each gets a function, a role and a time-out of its own.
   * @default none: message types without effects
   */
  readonly providers?: readonly ProviderDefinition[];

  /**
   * Absolute path of the module that exports `providers`.
   * @default none; required with `providers`
   */
  readonly providersEntry?: string;

  /**
   * Settings of single providers, by name.
   * @default each provider's defaults
   */
  readonly providerSettings?: Readonly<Record<string, ProviderSettings>>;

  /**
   * Absolute path of a module that exports `sources`: pure functions that turn foreign bodies into envelopes.
   * @default none: bodies are envelopes
   */
  readonly sourcesEntry?: string;

  /**
   * Environment of the starter for the sources' use, e.g. where a webhook's secret is. At most 2,048 bytes.
   * @default none
   */
  readonly sourcesEnvironment?: Readonly<Record<string, string>>;

  /**
   * Aggregates that live in tables of their own, by aggregate type; same account and Region. All other writers of
   * such a table keep the rule in docs/existing-tables.md.
   * @default all aggregates live in the worker's table
   */
  readonly aggregates?: Readonly<Record<string, AggregateTable>>;

  /**
   * The worker's name in inbox keys, logs, metrics and the command line: another one for each worker of an account and
   * Region, since metrics are found by it. Changing it makes every message new again.
   * @default the construct's id
   */
  readonly workerName?: string;

  /**
   * `production` keeps table, queues, payloads and logs when the stack goes and protects the table from deletion;
   * `development` deletes everything.
   * @default 'production'
   */
  readonly profile?: 'production' | 'development';

  /**
   * Makes the queue a FIFO queue. Order across executions comes from a type's `ordering`, not from this.
   * @default false
   */
  readonly fifo?: boolean;

  /**
   * Messages the starter is given at once: 1–10 for FIFO, 1–10,000 otherwise.
   * @default 10
   */
  readonly batchSize?: number;

  /**
   * How long Lambda gathers a batch, 0–300 seconds. Required from 1 second on for batches over 10; FIFO takes none.
   * @default Duration.seconds(0)
   */
  readonly maxBatchingWindow?: Duration;

  /**
   * Time-out of the starter: a batch of 10 needs 2 calls a message, side by side, each cut off after 5 seconds.
   * @default Duration.seconds(30)
   */
  readonly functionTimeout?: Duration;

  /**
   * How long a received message stays hidden: at least 6 × `functionTimeout` + `maxBatchingWindow`, at most 12 hours.
   * @default 6 × functionTimeout + maxBatchingWindow
   */
  readonly visibilityTimeout?: Duration;

  /**
   * Receives after which SQS gives a message up, 5–1,000. Overload counts as receives too: the starter itself moves
   * invalid messages on, long before.
   * @default 100
   */
  readonly maxReceiveCount?: number;

  /**
   * Starters at work at once, 2–1,000. `capacity()` derives it from what the database and the downstream can bear.
   * @default 10: with batches of 10 and 0.3 seconds a batch about 300 starts a second, what StartExecution refills
   */
  readonly maxConcurrency?: number;

  /**
   * Concurrency set aside for the starter; at least `maxConcurrency`. New accounts may have too little to set aside.
   * @default none: shares the account's concurrency
   */
  readonly reservedConcurrency?: number;

  /**
   * Executions at work at once (parked, deferred and in-doubt ones not counted), above which the starter takes no
   * further message up.
   * @default no limit
   */
  readonly maxInFlight?: number;

  /**
   * Where a message goes that cannot be read or is of a type that is not deployed.
   * @default 'dlq'
   */
  readonly invalidMessages?: 'dlq' | 'quarantine';

  /**
   * The receive on which it goes there, 1 up to below `maxReceiveCount`: a deployment may have brought its type.
   * @default 3
   */
  readonly invalidReceives?: number;

  /**
   * Days that an inbox row outlives its final status; at least 90, the time for which Step Functions keeps a closed
   * execution's name. The machine's time-out and 16 days are added.
   * @default 90
   */
  readonly inboxRetentionDays?: number;

  /**
   * Days that a published outbox row is kept for republishing.
   * @default 7
   */
  readonly outboxRetentionDays?: number;

  /**
   * How long an execution may live, 5 minutes to 365 days, back-offs, parking and effects in doubt included.
   * @default Duration.days(7)
   */
  readonly executionTimeout?: Duration;

  /**
   * Time-out of Plan and of Commit, each, 5–900 seconds.
   * @default Duration.seconds(30)
   */
  readonly stepTimeout?: Duration;

  /**
   * How long an effect in doubt waits for a person before it is looked at again; shorter than `executionTimeout`.
   * @default Duration.days(1)
   */
  readonly resolutionTimeout?: Duration;

  /**
   * How long a message waits in the queue, 1 minute to below `dlqRetention`.
   * @default Duration.days(7)
   */
  readonly queueRetention?: Duration;

  /**
   * How long a message stays in a dead-letter queue, at most 14 days. A standard queue's message keeps its age when it
   * is moved, so this must exceed `queueRetention`.
   * @default Duration.days(14)
   */
  readonly dlqRetention?: Duration;

  /**
   * Buckets whose objects a `payloadRef` may name, besides the worker's own.
   * @default none
   */
  readonly payloadBuckets?: readonly (IBucket | Bucket)[];

  /**
   * Days that an offloaded payload is kept: at least executionTimeout + 16 days, so that a redrive finds it.
   * @default inboxRetentionDays + executionTimeout + 16 days
   */
  readonly payloadRetentionDays?: number;

  /**
   * Customer key for queues, table, bucket, state machine and logs.
   * @default keys that the services own
   */
  readonly encryptionKey?: IKey;

  /**
   * VPC of the functions. They need a way to DynamoDB, S3, SQS, Step Functions and Lambda, by endpoints or NAT
   * (docs/deploying.md).
   * @default none
   */
  readonly vpc?: IVpc;

  /**
   * Subnets of `vpc`.
   * @default the VPC's private subnets
   */
  readonly vpcSubnets?: SubnetSelection;

  /**
   * Security groups of the functions in `vpc`.
   * @default a new one for each function
   */
  readonly securityGroups?: readonly ISecurityGroup[];

  /**
   * A queue that exists already, read by this worker alone. What it must have: docs/deploying.md.
   * @default a new queue
   */
  readonly queue?: IQueue;

  /**
   * The dead-letter queue of `queue`.
   * @default the one that `queue` was defined with
   */
  readonly deadLetterQueue?: IQueue;

  /**
   * A table that exists already, of this worker alone. What it must have: docs/deploying.md.
   * @default a new table
   */
  readonly table?: ITable | Table | TableV2;

  /**
   * Logs each execution event with its data. Personal data then lies in the log.
   * @default false: errors only, without data
   */
  readonly logExecutionData?: boolean;

  /**
   * How long logs are kept.
   * @default 3 months in production, 1 week in development
   */
  readonly logRetention?: RetentionDays;

  /**
   * What the log field `release` says.
   * @default the first 12 digits of the message types' digest
   */
  readonly release?: string;

  /**
   * Layers and environment of an observability vendor.
   * @default none: logs and metrics go to CloudWatch
   */
  readonly telemetry?: FunctionTelemetry;
}
