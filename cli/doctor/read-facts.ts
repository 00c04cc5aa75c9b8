import { GetDashboardCommand, type MetricAlarm, paginateDescribeAlarms } from '@aws-sdk/client-cloudwatch';
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import {
  type EventSourceMappingConfiguration,
  type FunctionConfiguration,
  GetAccountSettingsCommand,
  GetFunctionConcurrencyCommand,
  GetFunctionConfigurationCommand,
  ListEventSourceMappingsCommand,
} from '@aws-sdk/client-lambda';
import {
  GetBucketLifecycleConfigurationCommand,
  GetBucketVersioningCommand,
  GetPublicAccessBlockCommand,
} from '@aws-sdk/client-s3';
import { DescribeStateMachineCommand } from '@aws-sdk/client-sfn';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { isDenied, isUnreachable } from '../failures.ts';
import type { Target } from '../target.ts';
import { type Facts, NOT_NAMED, type QueueAttributes, type Reading } from './facts.ts';

/**
 * Asks the services, by calls that only read.
 * @throws what the client threw, when a service cannot be reached or does not know the credentials
 */
export async function readFacts(target: Target): Promise<Facts> {
  const { names } = target;
  const [queue, dlq, quarantineQueue, streamFailureQueue, table, machine, readers, bucket, monitoring] =
    await Promise.all([
      readQueue(target, names.queueUrl),
      readQueue(target, names.dlqUrl),
      readQueue(target, names.quarantineQueueUrl),
      readQueue(target, names.streamFailureQueueUrl),
      readTable(target),
      reading('the state machine', () =>
        target.clients.sfn.send(new DescribeStateMachineCommand({ stateMachineArn: names.stateMachineArn })),
      ),
      readSource(target),
      readBucket(target),
      readMonitoring(target),
    ]);
  const functions = await readFunctions(target, readers.source);
  const streamReaders = await readStreamReaders(target, table.table);
  const changes = await readChanges(target);
  const account = await reading('the account', async () => {
    const { AccountLimit = {} } = await target.clients.lambda.send(new GetAccountSettingsCommand({}));
    return AccountLimit;
  });
  const reserved = await readReserved(target);
  return {
    names,
    queue,
    dlq,
    quarantineQueue,
    streamFailureQueue,
    ...table,
    machine,
    ...readers,
    streamReaders,
    changes,
    functions,
    reserved,
    account,
    ...monitoring,
    ...bucket,
  };
}

function readQueue({ clients }: Target, QueueUrl: string | undefined): Promise<Reading<QueueAttributes>> {
  return whenNamed(QueueUrl, (url) =>
    reading(`the queue ${url}`, async () => {
      const input = { QueueUrl: url, AttributeNames: ['All' as const] };
      return (await clients.sqs.send(new GetQueueAttributesCommand(input))).Attributes ?? {};
    }),
  );
}

async function readTable({ names, clients: { dynamodb } }: Target) {
  const what = `the table ${names.tableName}`;
  const TableName = names.tableName;
  const [table, ttl, backups] = await Promise.all([
    reading(what, async () => (await dynamodb.send(new DescribeTableCommand({ TableName }))).Table ?? {}),
    reading(
      what,
      async () =>
        (await dynamodb.send(new DescribeTimeToLiveCommand({ TableName }))).TimeToLiveDescription ?? {},
    ),
    reading(what, async () => {
      const answer = await dynamodb.send(new DescribeContinuousBackupsCommand({ TableName }));
      return answer.ContinuousBackupsDescription ?? { ContinuousBackupsStatus: undefined };
    }),
  ]);
  return { table, ttl, backups };
}

const readersOf = ({ clients: { lambda } }: Target, EventSourceArn: string) =>
  reading('the event sources', async () => {
    const answer = await lambda.send(new ListEventSourceMappingsCommand({ EventSourceArn }));
    return answer.EventSourceMappings ?? [];
  });

async function readSource(target: Target) {
  const { queueArn, eventSourceId } = target.names;
  const listed = await readersOf(target, queueArn);
  if (!('found' in listed)) return { source: listed, queueReaders: listed };
  const found =
    listed.found.find(({ UUID }) => UUID === eventSourceId) ??
    listed.found.find(({ EventSourceArn }) => EventSourceArn === queueArn);
  const source: Facts['source'] = found === undefined ? { absent: 'no function reads the queue' } : { found };
  // The local runtime lists those of all its queues.
  const own = listed.found.filter(({ EventSourceArn }) => EventSourceArn === queueArn);
  return { source, queueReaders: { found: own.length } };
}

async function readStreamReaders(target: Target, table: Facts['table']): Promise<Facts['streamReaders']> {
  if (!('found' in table)) return table;
  const { LatestStreamArn } = table.found;
  if (LatestStreamArn === undefined) return { absent: 'the table has no stream' };
  const listed = await readersOf(target, LatestStreamArn);
  return 'found' in listed ? { found: listed.found.length } : listed;
}

async function readChanges({
  names,
  clients: { lambda },
}: Target): Promise<Reading<EventSourceMappingConfiguration>> {
  return whenNamed(names.functions?.waker, async (FunctionName) => {
    const listed = await reading(`the function ${FunctionName}`, async () => {
      const answer = await lambda.send(new ListEventSourceMappingsCommand({ FunctionName }));
      return answer.EventSourceMappings ?? [];
    });
    if (!('found' in listed)) return listed;
    const [found] = listed.found;
    return found === undefined ? { absent: "no function reads the table's stream" } : { found };
  });
}

async function readFunctions(
  { names, clients: { lambda } }: Target,
  source: Reading<EventSourceMappingConfiguration>,
): Promise<ReadonlyMap<string, Reading<FunctionConfiguration>>> {
  const starter = 'found' in source ? source.found.FunctionArn : undefined;
  const parts = names.functions ?? (starter === undefined ? {} : { starter });
  const readings = Object.entries(parts).map(async ([part, FunctionName]) => {
    const found = await reading(`the function ${FunctionName}`, () =>
      lambda.send(new GetFunctionConfigurationCommand({ FunctionName })),
    );
    return [part, found] as const;
  });
  return new Map(await Promise.all(readings));
}

function readReserved({ names, clients: { lambda } }: Target): Promise<Facts['reserved']> {
  return whenNamed(names.functions?.starter, (FunctionName) =>
    reading(`the function ${FunctionName}`, async () => {
      const answer = await lambda.send(new GetFunctionConcurrencyCommand({ FunctionName }));
      return { concurrency: answer.ReservedConcurrentExecutions };
    }),
  );
}

async function readMonitoring({ names, clients: { cloudwatch } }: Target) {
  if (cloudwatch === undefined) {
    const unread = { unread: 'the local runtime has no CloudWatch' };
    return { alarms: unread, dashboard: unread };
  }
  const alarms = await reading('alarms', async () => {
    const found: MetricAlarm[] = [];
    const pages = paginateDescribeAlarms(
      { client: cloudwatch, pageSize: 100 },
      { AlarmTypes: ['MetricAlarm'] },
    );
    for await (const { MetricAlarms = [] } of pages) found.push(...MetricAlarms);
    return found;
  });
  const dashboard = await whenNamed(names.dashboardName, (DashboardName) =>
    reading(`the dashboard ${DashboardName}`, async () => {
      const answer = await cloudwatch.send(new GetDashboardCommand({ DashboardName }));
      return answer.DashboardBody ?? '';
    }),
  );
  return { alarms, dashboard };
}

async function readBucket({ names, clients: { s3 } }: Target) {
  const what = `the bucket ${names.payloadBucket}`;
  const Bucket = names.payloadBucket;
  const [bucketVersioning, bucketAccess, bucketLifecycle] = await Promise.all([
    reading(what, async () => (await s3.send(new GetBucketVersioningCommand({ Bucket }))).Status),
    reading(what, async () => {
      const answer = await s3.send(new GetPublicAccessBlockCommand({ Bucket }));
      return answer.PublicAccessBlockConfiguration ?? {};
    }),
    reading(
      what,
      async () => (await s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket }))).Rules ?? [],
    ),
  ]);
  return { bucketVersioning, bucketAccess, bucketLifecycle };
}

const whenNamed = <T>(
  name: string | undefined,
  read: (name: string) => Promise<Reading<T>>,
): Promise<Reading<T>> => (name === undefined ? Promise.resolve(NOT_NAMED) : read(name));

/** What the services answer for what is not there; S3 has a name for each setting that a bucket lacks. */
const ABSENT =
  /^(ResourceNotFound(Exception)?|DashboardNotFoundError|QueueDoesNotExist|AWS\.SimpleQueueService\.NonExistentQueue|StateMachineDoesNotExist|TableNotFoundException|NoSuch\w+)$/;

async function reading<T>(what: string, read: () => Promise<T>): Promise<Reading<T>> {
  try {
    return { found: await read() };
  } catch (error) {
    if (!(error instanceof Error) || isUnreachable(error)) throw error;
    if (ABSENT.test(error.name)) return { absent: `${what}: ${error.name}` };
    if (isDenied(error)) return { unread: `${what} may not be read with these credentials` };
    return { unread: `${what} cannot be read here: ${error.name}` };
  }
}
