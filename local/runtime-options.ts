import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Clock, NewId, Random } from '../lambdas/core/clock.ts';
import type { DomainTables } from '../lambdas/core/domain-table.ts';
import type { AnyMessageDefinition } from '../lambdas/core/message-type.ts';
import type { ProviderDefinition } from '../lambdas/core/provider.ts';
import type { Source } from '../lambdas/core/sources.ts';
import type { Telemetry } from '../lambdas/core/telemetry.ts';
import type { DefinitionNumbers } from '../statemachines/definition.ts';
import type { Deployment, DeploymentPlace } from './deployment.ts';
import type { StreamRecord } from './dynamodb/change-stream.ts';
import type { FaultInjector } from './edge/faults.ts';
import type { Dispatch } from './edge/http.ts';
import type { ServiceCall } from './edge/service-call.ts';
import type { DeliveryFault, LambdaFunction } from './event-sources/index.ts';

/** What a local runtime is made of, and what tests change of it. */
export interface LocalRuntimeOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  /** Message types of the functions that are built here. @default none: a {@link deployment} brings its own */
  readonly messages?: readonly AnyMessageDefinition[];
  /** Sources that turn foreign bodies into envelopes. @default none: bodies are envelopes */
  readonly sources?: readonly Source[];
  /** Effect providers; each runs in a function of its own. @default none */
  readonly providers?: readonly ProviderDefinition[];
  /** What the providers' functions find in their environment: endpoints and settings. @default nothing */
  readonly providerEnvironment?: Readonly<Record<string, string>>;
  /** What every provider is given as its secret. @default none: asking for one fails */
  readonly providerSecret?: string;
  /** Aggregates that live in tables of their own, by type. @default all live in the worker's table */
  readonly aggregates?: DomainTables;
  /** The worker's name in inbox keys, logs and metrics. @default 'stepwell' */
  readonly workerName?: string;
  /** A FIFO queue instead of a standard one. @default false */
  readonly fifo?: boolean;
  /** Receives after which SQS gives a message up. @default 100 */
  readonly maxReceiveCount?: number;
  /** Where a message goes that cannot be read or started. @default 'dlq' */
  readonly invalidMessages?: 'dlq' | 'quarantine';
  /** The receive on which it goes there. @default 3 */
  readonly invalidReceives?: number;
  /** Most starter invocations at once. @default 5 */
  readonly maxConcurrency?: number;
  /** Most executions at work at once; parked, deferred and in-doubt ones are not. @default no limit */
  readonly maxInFlight?: number;
  /** Messages that a starter is given at once. @default 10 */
  readonly batchSize?: number;
  /** Time-outs of the definition, in seconds. @default those of the definition's file */
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
  /**
   * The worker's functions and definition from elsewhere, e.g. bundles and a template, in place of those that are
   * built here from messages, sources, providers and numbers. Its functions call over loopback, where neither faults
   * nor `onCall` apply, and keep the machine's own time: `clock` has to be that one too.
   * @default none
   */
  readonly deployment?: (place: DeploymentPlace) => Deployment | Promise<Deployment>;
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
