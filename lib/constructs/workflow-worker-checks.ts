import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { Duration } from 'aws-cdk-lib';
import { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import { CfnQueue, type IQueue, Queue } from 'aws-cdk-lib/aws-sqs';
import { checkDomainTables, type DomainTables } from '../../lambdas/core/domain-table.ts';
import { createRegistry } from '../../lambdas/core/manifest.ts';
import type { Fault } from '../faults.ts';
import type { WorkflowWorkerProps } from './workflow-worker-props.ts';

/** The props with every default filled in. */
export type ResolvedSettings = ReturnType<typeof resolveSettings>;

/** Six receives' worth of time: what Lambda's documentation asks of a queue's visibility time-out. */
const VISIBILITY_FACTOR = 6;

/** Puts the defaults under the caller's props. */
export function resolveSettings(id: string, props: WorkflowWorkerProps) {
  const functionTimeout = props.functionTimeout ?? Duration.seconds(30);
  const maxBatchingWindow = props.maxBatchingWindow ?? Duration.seconds(0);
  const leastVisibility = functionTimeout.toSeconds() * VISIBILITY_FACTOR + maxBatchingWindow.toSeconds();
  return {
    workerName: props.workerName ?? id,
    production: (props.profile ?? 'production') === 'production',
    fifo: props.fifo ?? props.queue?.fifo ?? false,
    batchSize: props.batchSize ?? 10,
    maxBatchingWindow,
    functionTimeout,
    leastVisibility,
    visibilityTimeout: props.visibilityTimeout ?? Duration.seconds(leastVisibility),
    maxReceiveCount: props.maxReceiveCount ?? 100,
    maxConcurrency: props.maxConcurrency ?? 10,
    invalidMessages: props.invalidMessages ?? 'dlq',
    invalidReceives: props.invalidReceives ?? 3,
    inboxRetentionDays: props.inboxRetentionDays ?? 90,
    outboxRetentionDays: props.outboxRetentionDays ?? 7,
    executionTimeout: props.executionTimeout ?? Duration.days(7),
    stepTimeout: props.stepTimeout ?? Duration.seconds(30),
    resolutionTimeout: props.resolutionTimeout ?? Duration.days(1),
    queueRetention: props.queueRetention ?? Duration.days(7),
    dlqRetention: props.dlqRetention ?? Duration.days(14),
    providers: props.providers ?? [],
  };
}

/** Checks the props as a whole and returns everything that is wrong with them. */
export function findFaults(id: string, props: WorkflowWorkerProps): Fault[] {
  const faults: Fault[] = [];
  const settings = resolveSettings(id, props);
  const expect = (holds: boolean, prop: string, rule: string, remedy: string) => {
    if (!holds) faults.push({ prop, rule, remedy });
  };
  const whole = (prop: string, value: number | undefined, least: number, most: number, why: string) => {
    const holds = value === undefined || (Number.isSafeInteger(value) && value >= least && value <= most);
    expect(holds, prop, `must be a whole number from ${least} to ${most}, is ${value}`, why);
  };
  checkModules(props, expect);
  checkQueue(props, settings, expect, whole);
  checkTimes(props, settings, expect, whole);
  checkImports(props, settings, expect);
  expect(
    /^[A-Za-z][A-Za-z0-9_-]{0,99}$/.test(settings.workerName),
    'workerName',
    'must match [A-Za-z][A-Za-z0-9_-]{0,99}, because it is part of keys and metrics',
    'Set workerName, if the construct’s id is another name',
  );
  return faults;
}

type Expect = (holds: boolean, prop: string, rule: string, remedy: string) => void;
type Whole = (prop: string, value: number | undefined, least: number, most: number, remedy: string) => void;

function checkModules(props: WorkflowWorkerProps, expect: Expect): void {
  const { providers = [], providerSettings = {} } = props;
  try {
    createRegistry(props.messages);
  } catch (error) {
    expect(
      false,
      'messages',
      error instanceof Error ? error.message : 'are not usable',
      'Correct the definitions',
    );
  }
  try {
    checkDomainTables(domainTables(props));
  } catch (error) {
    const rule = error instanceof Error ? error.message : 'are not usable';
    expect(false, 'aggregates', rule, 'Correct them');
  }
  for (const prop of ['messagesEntry', 'providersEntry', 'sourcesEntry'] as const) {
    const path = props[prop];
    const holds = path === undefined || (isAbsolute(path) && existsSync(path));
    expect(
      holds,
      prop,
      `must be the absolute path of a module, is ${path}`,
      'Derive it from the module’s own location',
    );
  }
  expect(
    providers.length === 0 || props.providersEntry !== undefined,
    'providersEntry',
    'is required with providers, because their code is bundled from there',
    'Name the module that exports them',
  );
  const names = providers.map(({ name }) => name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  expect(
    twice.length === 0,
    'providers',
    `must have names of their own, ${twice.join(', ')} is there twice`,
    'Rename one',
  );
  const unknown = Object.keys(providerSettings).filter((name) => !names.includes(name));
  expect(
    unknown.length === 0,
    'providerSettings',
    `must name providers, ${unknown.join(', ')} is none`,
    'Correct the name, or add the provider',
  );
}

function checkQueue(
  props: WorkflowWorkerProps,
  settings: ResolvedSettings,
  expect: Expect,
  whole: Whole,
): void {
  const { fifo, batchSize, leastVisibility } = settings;
  const window = settings.maxBatchingWindow.toSeconds();
  const timeout = settings.functionTimeout.toSeconds();
  whole('functionTimeout', timeout, 1, 900, 'Lambda allows no other; the unit is seconds');
  whole('maxBatchingWindow', window, 0, 300, 'Lambda allows no other; the unit is seconds');
  whole(
    'batchSize',
    batchSize,
    1,
    fifo ? 10 : 10_000,
    `Lambda allows no other for ${fifo ? 'FIFO' : 'standard'} queues`,
  );
  expect(
    !fifo || window === 0,
    'maxBatchingWindow',
    'must not be set on a FIFO queue: Lambda refuses it',
    'Leave it out',
  );
  expect(
    fifo || batchSize <= 10 || window >= 1,
    'maxBatchingWindow',
    'must be at least 1 second for batches over 10',
    'Set it, or lower batchSize',
  );
  const visibility = settings.visibilityTimeout.toSeconds();
  expect(
    props.queue !== undefined || visibility >= leastVisibility,
    'visibilityTimeout',
    `must be at least ${VISIBILITY_FACTOR} × functionTimeout + maxBatchingWindow = ${VISIBILITY_FACTOR} × ${timeout} s + ${window} s = ${leastVisibility} s, is ${visibility} s: messages would come back while they are worked on`,
    'Leave it out, and it is derived',
  );
  expect(
    visibility <= 43_200,
    'visibilityTimeout',
    `must be at most 12 hours, is ${visibility} s`,
    'Lower functionTimeout',
  );
  whole(
    'maxReceiveCount',
    settings.maxReceiveCount,
    5,
    1_000,
    'Overload counts as receives: below 5 it fills the dead-letter queue',
  );
  whole(
    'invalidReceives',
    settings.invalidReceives,
    1,
    settings.maxReceiveCount - 1,
    'SQS would move the message first, without the reason',
  );
  whole('maxConcurrency', settings.maxConcurrency, 2, 1_000, 'Lambda allows no other');
  whole(
    'reservedConcurrency',
    props.reservedConcurrency,
    settings.maxConcurrency,
    100_000,
    'Below maxConcurrency the poller is throttled and receives are burnt',
  );
  whole('maxInFlight', props.maxInFlight, 1, 1_000_000, 'Step Functions allows 1,000,000 open executions');
}

const DAY_SECONDS = 86_400;
const NAME_LIFE_DAYS = 90;
const REPLAY_WINDOW_DAYS = 14;

function checkTimes(
  props: WorkflowWorkerProps,
  settings: ResolvedSettings,
  expect: Expect,
  whole: Whole,
): void {
  const { inboxRetentionDays } = settings;
  const execution = settings.executionTimeout.toSeconds();
  const resolution = settings.resolutionTimeout.toSeconds();
  const queue = settings.queueRetention.toSeconds();
  const dlq = settings.dlqRetention.toSeconds();
  whole(
    'executionTimeout',
    execution,
    300,
    365 * DAY_SECONDS,
    'An execution lives at most a year; the unit is seconds',
  );
  whole(
    'stepTimeout',
    settings.stepTimeout.toSeconds(),
    5,
    900,
    'A call of theirs may take 5 seconds; the unit is seconds',
  );
  whole('inboxRetentionDays', inboxRetentionDays, 1, 3_650, 'The unit is days');
  whole(
    'outboxRetentionDays',
    settings.outboxRetentionDays,
    2,
    365,
    'A stream record may be a day late; the unit is days',
  );
  expect(
    resolution >= 60 && resolution < execution,
    'resolutionTimeout',
    `must be from 60 s to below executionTimeout (${execution} s), is ${resolution} s`,
    'Lower it, or raise executionTimeout',
  );
  expect(
    queue >= 60 && queue < dlq,
    'queueRetention',
    `must be from 60 s to below dlqRetention (${dlq} s), is ${queue} s: a moved message keeps its age and would be gone at once`,
    'Lower it',
  );
  expect(dlq <= 14 * DAY_SECONDS, 'dlqRetention', `must be at most 14 days, is ${dlq} s`, 'Lower it');
  const needed = Math.max(NAME_LIFE_DAYS, Math.ceil((queue + dlq) / DAY_SECONDS) + REPLAY_WINDOW_DAYS);
  expect(
    inboxRetentionDays >= needed,
    'inboxRetentionDays',
    `must be at least ${needed}: the ${NAME_LIFE_DAYS} days for which a closed execution’s name is taken, and more than queue, dead-letter queue and replay window (${REPLAY_WINDOW_DAYS} days) together; is ${inboxRetentionDays}. A key replayed after its row has expired would be worked on again`,
    `Set ${needed} or more`,
  );
  for (const message of props.messages) {
    const gap = message.gapTimeoutSeconds ?? DAY_SECONDS;
    const waits = message.ordering === 'sequential' || message.ordering === 'arrival';
    expect(
      !waits || gap < execution,
      'executionTimeout',
      `must exceed the gapTimeoutSeconds of ${message.type} (${gap} s), is ${execution} s: the execution would time out before the gap is reported`,
      'Raise it, or lower gapTimeoutSeconds',
    );
  }
  for (const [name, { timeout }] of Object.entries(props.providerSettings ?? {})) {
    const seconds = timeout?.toSeconds();
    whole(
      `providerSettings.${name}.timeout`,
      seconds,
      5,
      900,
      'Lambda allows at most 900; the unit is seconds',
    );
  }
}

/** Props that shape the worker's own queue say nothing to a queue that is another's. */
const OWN_QUEUE_PROPS = [
  'fifo',
  'visibilityTimeout',
  'maxReceiveCount',
  'queueRetention',
  'dlqRetention',
] as const;

function checkImports(props: WorkflowWorkerProps, settings: ResolvedSettings, expect: Expect): void {
  const { queue, table } = props;
  const definition = queue?.node.defaultChild;
  if (queue !== undefined) {
    for (const prop of OWN_QUEUE_PROPS) {
      expect(
        props[prop] === undefined,
        prop,
        'has no effect on an imported queue',
        'Set it where the queue is defined',
      );
    }
  } else {
    expect(
      props.deadLetterQueue === undefined,
      'deadLetterQueue',
      'belongs to an imported queue',
      'Leave it out, or pass queue',
    );
  }
  if (definition instanceof CfnQueue) {
    const visibility = definition.visibilityTimeout ?? 30;
    expect(
      visibility >= settings.leastVisibility,
      'queue',
      `must have a visibility time-out of at least 6 × functionTimeout + maxBatchingWindow = ${settings.leastVisibility} s, has ${visibility} s`,
      'Raise it where the queue is defined',
    );
  }
  const deadLetterQueue = deadLetterQueueOf(props);
  expect(
    queue === undefined || deadLetterQueue !== undefined,
    'deadLetterQueue',
    'is required with an imported queue',
    'Pass the queue that its redrive policy names',
  );
  expect(
    queue === undefined || deadLetterQueue === undefined || queue.fifo === deadLetterQueue.fifo,
    'deadLetterQueue',
    'must be of the queue’s own kind, FIFO or not: SQS refuses the other',
    'Pass another queue',
  );
  expect(
    table === undefined || table.tableStreamArn !== undefined,
    'table',
    'must have a stream with new and old images',
    'Import it with fromTableAttributes and tableStreamArn',
  );
  const tableDefinition = table?.node.defaultChild;
  if (tableDefinition instanceof CfnTable) {
    expect(
      tableDefinition.timeToLiveSpecification !== undefined,
      'table',
      'must have its time to live on the attribute ttl',
      'Set timeToLiveAttribute where the table is defined',
    );
  }
  expect(
    props.vpc !== undefined || (props.vpcSubnets === undefined && props.securityGroups === undefined),
    'vpc',
    'is required with vpcSubnets and securityGroups',
    'Pass the VPC',
  );
}

/** The dead-letter queue of an imported queue: the one passed, or the one that the queue was defined with. */
export function deadLetterQueueOf(props: WorkflowWorkerProps): IQueue | undefined {
  const { queue } = props;
  return props.deadLetterQueue ?? (queue instanceof Queue ? queue.deadLetterQueue?.queue : undefined);
}

/** The domain's tables as Plan is told of them. */
export function domainTables({ aggregates = {} }: WorkflowWorkerProps): DomainTables {
  const tables = Object.entries(aggregates).map(
    ([type, { table, key, versionAttribute }]) =>
      [type, { table: table.tableName, key, versionAttribute }] as const,
  );
  return Object.fromEntries(tables);
}
