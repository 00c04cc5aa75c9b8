import type { EdgeRequest } from './http.ts';

/** The services that the local runtime embeds. */
export type ServiceName = 'sqs' | 's3' | 'dynamodb' | 'sfn' | 'lambda';

/** One attempt of one API call. */
export interface ServiceCall {
  readonly service: ServiceName;
  /** The API's name of the operation, e.g. `SendMessage`. */
  readonly operation: string;
  /** 1 for the first attempt; the SDK's retries count up. */
  readonly attempt: number;
  /** The function that calls; absent when a state, an event source or a client outside calls. */
  readonly caller?: string;
}

const SERVICES_BY_TARGET: Readonly<Record<string, ServiceName>> = {
  AmazonSQS: 'sqs',
  DynamoDB_20120810: 'dynamodb',
  DynamoDBStreams_20120810: 'dynamodb',
  AWSStepFunctions: 'sfn',
};

/** Tells service, operation and attempt of a request; whatever is neither AWS JSON nor Lambda's REST API is S3. */
export function describeCall(request: EdgeRequest): ServiceCall {
  const attempt = Number(/attempt=(\d+)/.exec(request.headers['amz-sdk-request'] ?? '')?.[1] ?? 1);
  const [prefix = '', operation = ''] = (request.headers['x-amz-target'] ?? '').split('.');
  const service = SERVICES_BY_TARGET[prefix];
  if (service !== undefined) return { service, operation, attempt };
  if (request.path.startsWith('/2015-03-31/')) {
    return { service: 'lambda', operation: lambdaOperation(request), attempt };
  }
  return { service: 's3', operation: s3Operation(request), attempt };
}

function lambdaOperation({ method, path }: EdgeRequest): string {
  if (path.endsWith('/invocations')) return 'Invoke';
  const single = /\/event-source-mappings\/[^/]+$/.test(path);
  if (method === 'PUT') return 'UpdateEventSourceMapping';
  return single ? 'GetEventSourceMapping' : 'ListEventSourceMappings';
}

function s3Operation({ method, path, query, headers }: EdgeRequest): string {
  const key = path.split('/').slice(2).join('/');
  const verb = method === 'GET' ? 'Get' : method === 'HEAD' ? 'Head' : method === 'DELETE' ? 'Delete' : 'Put';
  if (key !== '') return headers['x-amz-copy-source'] === undefined ? `${verb}Object` : 'CopyObject';
  if (path === '/') return 'ListBuckets';
  if (query.has('versioning')) return `${verb}BucketVersioning`;
  if (query.has('versions')) return 'ListObjectVersions';
  if (query.has('location')) return 'GetBucketLocation';
  if (method === 'POST') return 'DeleteObjects';
  if (method === 'GET') return query.has('list-type') ? 'ListObjectsV2' : 'ListObjects';
  return method === 'PUT' ? 'CreateBucket' : `${verb}Bucket`;
}
