import { StateError } from '../errors.ts';

/** How Step Functions names a service in error names and causes. */
interface ServiceLabel {
  /** In front of the error's name: `DynamoDB` for the optimized integration, `DynamoDb` for the SDK's. */
  readonly prefix: string;
  /** In the cause. */
  readonly label: string;
}

const LABELS: Readonly<Record<string, ServiceLabel>> = {
  dynamodb: { prefix: 'DynamoDB', label: 'DynamoDb' },
  'aws-sdk:dynamodb': { prefix: 'DynamoDb', label: 'DynamoDb' },
  sqs: { prefix: 'SQS', label: 'Sqs' },
  'aws-sdk:sqs': { prefix: 'Sqs', label: 'Sqs' },
};

/** The error that a state sees when the SDK rejects: named after the service's exception, with a flat cause. */
export function toServiceError(service: string, error: unknown): StateError {
  if (error instanceof StateError) return error;
  const { prefix, label } = LABELS[service] ?? { prefix: service, label: service };
  if (!(error instanceof Error)) return new StateError(`${prefix}.SdkClientException`, String(error));
  const metadata = '$metadata' in error ? error.$metadata : undefined;
  const status = member(metadata, 'httpStatusCode');
  if (typeof status !== 'number') {
    // Nothing answered, so no exception of the service names it.
    return new StateError(`${prefix}.SdkClientException`, error.message);
  }
  const requestId = member(metadata, 'requestId');
  const name = error.name.endsWith('Exception') ? error.name : `${error.name}Exception`;
  const details = `Service: ${label}, Status Code: ${status}, Request ID: ${String(requestId ?? 'unknown')}`;
  return new StateError(`${prefix}.${name}`, `${error.message} (${details})`);
}

function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return new Map<string, unknown>(Object.entries(value)).get(key);
}
