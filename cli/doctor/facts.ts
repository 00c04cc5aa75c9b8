import type { MetricAlarm } from '@aws-sdk/client-cloudwatch';
import type {
  ContinuousBackupsDescription,
  TableDescription,
  TimeToLiveDescription,
} from '@aws-sdk/client-dynamodb';
import type {
  AccountLimit,
  EventSourceMappingConfiguration,
  FunctionConfiguration,
} from '@aws-sdk/client-lambda';
import type { LifecycleRule, PublicAccessBlockConfiguration } from '@aws-sdk/client-s3';
import type { DescribeStateMachineOutput } from '@aws-sdk/client-sfn';
import type { TargetNames } from '../stack-names.ts';

/** What a service says of a thing: the thing, that it is not there, or why it could not be asked. */
export type Reading<T> = { readonly found: T } | { readonly absent: string } | { readonly unread: string };

/** Of what an optional name of the worker's output would lead to. */
export const NOT_NAMED: Reading<never> = {
  unread: "not named by the worker's output: the stack is of an older release, or has none",
};

/** A provider's function is the part of this name, followed by the provider's. */
export const EFFECT_PART = 'run-effect-';

export type QueueAttributes = Readonly<Record<string, string>>;

/** What the services say of a worker. */
export interface Facts {
  readonly names: TargetNames;
  readonly queue: Reading<QueueAttributes>;
  readonly dlq: Reading<QueueAttributes>;
  readonly quarantineQueue: Reading<QueueAttributes>;
  readonly streamFailureQueue: Reading<QueueAttributes>;
  readonly table: Reading<TableDescription>;
  readonly ttl: Reading<TimeToLiveDescription>;
  readonly backups: Reading<ContinuousBackupsDescription>;
  readonly machine: Reading<Partial<DescribeStateMachineOutput>>;
  /** The event source that reads the queue. */
  readonly source: Reading<EventSourceMappingConfiguration>;
  /** The event source that reads the table's stream. */
  readonly changes: Reading<EventSourceMappingConfiguration>;
  /** How many functions read the queue, and the table's newest stream. */
  readonly queueReaders: Reading<number>;
  readonly streamReaders: Reading<number>;
  /** By the function's part: `starter`, `plan`, … */
  readonly functions: ReadonlyMap<string, Reading<FunctionConfiguration>>;
  /** Of the starter; found without a number: it has none. */
  readonly reserved: Reading<{ readonly concurrency?: number | undefined }>;
  readonly account: Reading<AccountLimit>;
  /** All of the account and Region. */
  readonly alarms: Reading<readonly MetricAlarm[]>;
  /** The dashboard's source. */
  readonly dashboard: Reading<string>;
  readonly bucketVersioning: Reading<string | undefined>;
  readonly bucketAccess: Reading<PublicAccessBlockConfiguration>;
  readonly bucketLifecycle: Reading<readonly LifecycleRule[]>;
}

/** Both, or the first of them that was not found. */
export function both<A, B>(a: Reading<A>, b: Reading<B>): Reading<readonly [A, B]> {
  if (!('found' in a)) return a;
  if (!('found' in b)) return b;
  return { found: [a.found, b.found] };
}

/** All, or the first of them that was not found. */
export function every<T>(
  readings: Iterable<readonly [string, Reading<T>]>,
): Reading<readonly (readonly [string, T])[]> {
  const found: (readonly [string, T])[] = [];
  for (const [name, reading] of readings) {
    if (!('found' in reading)) return reading;
    found.push([name, reading.found]);
  }
  return { found };
}

/** One thing that holds of a deployed worker or does not. */
export interface Check {
  readonly line: string;
  readonly result: 'pass' | 'fail' | 'unknown';
  /** What was found, or why it is not known. */
  readonly detail: string;
}

/** @param judge whether it holds, and what was found */
export function check<T>(
  line: string,
  reading: Reading<T>,
  judge: (found: T) => readonly [holds: boolean, detail: string],
): Check {
  if ('absent' in reading) return { line, result: 'fail', detail: reading.absent };
  if ('unread' in reading) return { line, result: 'unknown', detail: reading.unread };
  const [holds, detail] = judge(reading.found);
  return { line, result: holds ? 'pass' : 'fail', detail };
}

/** A judgement: those that are at fault fail it, by their names; without any it passes, with the detail `well`. */
export const faulty = (names: readonly string[], well: string): readonly [boolean, string] =>
  names.length === 0 ? [true, well] : [false, names.join(', ')];
