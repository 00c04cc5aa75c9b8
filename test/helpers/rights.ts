import { bodyText, type EdgeRequest } from '../../local/edge/http.ts';
import { describeCall } from '../../local/edge/service-call.ts';
import { callOf } from './deployed-stack.ts';

/** A right that a call needs. */
export interface Right {
  /** As IAM names it. */
  readonly action: string;
  /** What of the worker it is for: `table`, `index`, `queue`, `dlq`, … or `any`. */
  readonly on: string;
  /** Partition key of the row that is written. */
  readonly row?: string;
}

const SERVICES: Readonly<Record<string, string>> = {
  AmazonSQS: 'sqs',
  DynamoDB_20120810: 'dynamodb',
  AWSStepFunctions: 'states',
  GraniteServiceVersion20100801: 'cloudwatch',
};
const TRANSACTION_ACTIONS: Readonly<Record<string, string>> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
};
/** Rights whose names are not their calls'. */
const S3_ACTIONS: Readonly<Record<string, readonly [action: string, on: string]>> = {
  ListObjectVersions: ['ListBucketVersions', 'bucket'],
  // Always of a version: the bucket keeps them.
  DeleteObjects: ['DeleteObjectVersion', 'objects'],
  GetBucketVersioning: ['GetBucketVersioning', 'bucket'],
  GetPublicAccessBlock: ['GetBucketPublicAccessBlock', 'bucket'],
  GetBucketLifecycleConfiguration: ['GetLifecycleConfiguration', 'bucket'],
};
/** Calls that a service binds to no resource. */
const UNBOUND = ['DescribeAlarms', 'GetAccountSettings', 'ListEventSourceMappings'];

/** The rights that a request needs of whoever sends it. Transactions count as what is in them. */
export function rightsOf(request: EdgeRequest): readonly Right[] {
  const [prefix = '', operation = ''] = (request.headers['x-amz-target'] ?? '').split('.');
  const service = SERVICES[prefix];
  if (service === undefined) return [restRight(request)];
  const input = JSON.parse(bodyText(request));
  if (operation === 'TransactWriteItems') {
    return input.TransactItems.map((item: Readonly<Record<string, unknown>>) => {
      const [[kind = '', write] = []] = Object.entries(item);
      const { Key, Item } = Object(write);
      return { action: `dynamodb:${TRANSACTION_ACTIONS[kind]}`, on: 'table', row: (Key ?? Item).PK.S };
    });
  }
  // A batch is its entries' right.
  const right = {
    action: `${service}:${operation.replace(/(Visibility)Batch$/, '$1')}`,
    on: placeOf(service, operation, input),
  };
  const row: unknown = /^(Put|Update|Delete)Item$/.test(operation)
    ? (input.Key ?? input.Item).PK.S
    : undefined;
  if (operation !== 'StartMessageMoveTask') return [typeof row === 'string' ? { ...right, row } : right];
  // SQS moves with the caller's rights.
  return [
    right,
    { action: 'sqs:ReceiveMessage', on: 'dlq' },
    { action: 'sqs:DeleteMessage', on: 'dlq' },
    { action: 'sqs:GetQueueAttributes', on: 'dlq' },
    { action: 'sqs:SendMessage', on: 'queue' },
  ];
}

function restRight(request: EdgeRequest): Right {
  const { operation } = callOf(request);
  if (operation === 'DescribeStacks') return { action: 'cloudformation:DescribeStacks', on: 'stack' };
  if (/^\/20\d\d-/.test(request.path)) {
    return { action: `lambda:${operation}`, on: UNBOUND.includes(operation) ? 'any' : 'function' };
  }
  if (request.method === 'GET' && /^\/[^/]+\/payloads\/rejected\//.test(request.path)) {
    return { action: 's3:GetObject', on: 'refused' };
  }
  const called =
    S3_ACTIONS[operation] === undefined || request.query.has('versions') || request.method === 'POST'
      ? describeCall(request).operation
      : operation;
  const [action, on] = S3_ACTIONS[called] ?? [called, 'objects'];
  return { action: `s3:${action}`, on };
}

/** What a call names of what it is for. */
interface Input {
  readonly IndexName?: string;
  readonly QueueUrl?: string;
  readonly SourceArn?: string;
  readonly executionArn?: string;
}

function placeOf(service: string, operation: string, input: Input): string {
  if (UNBOUND.includes(operation)) return 'any';
  if (service === 'dynamodb') return input.IndexName === undefined ? 'table' : 'index';
  if (service === 'cloudwatch') return 'dashboard';
  if (service === 'sqs') return queueOf(String(input.QueueUrl ?? input.SourceArn));
  return input.executionArn === undefined ? 'machine' : 'executions';
}

function queueOf(name: string): string {
  if (/dlq$|DeadLetters/.test(name)) return 'dlq';
  if (/quarantine/i.test(name)) return 'quarantine';
  return /StreamFailures/.test(name) ? 'streamFailures' : 'queue';
}
