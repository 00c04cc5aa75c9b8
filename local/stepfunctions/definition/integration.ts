import { fault, type Reader } from './reader.ts';
import type { Integration } from './types.ts';

const FUNCTION_ARN = /^arn:[\w-]+:lambda:[\w-]+:\d{12}:function:[\w-]+(:[\w$-]+)?$/;
const SERVICE_ARN =
  /^arn:[\w-]+:states:[\w-]*:\d{0,12}:(aws-sdk:[a-z0-9]+|[a-z0-9-]+):([A-Za-z0-9]+)(\.\w+)?$/;

/** The optimized integrations this runtime has, and whether each can wait for a callback. */
const OPTIMIZED: Readonly<Record<string, boolean>> = {
  'lambda:invoke': true,
  'dynamodb:getItem': false,
  'dynamodb:putItem': false,
  'dynamodb:updateItem': false,
  'dynamodb:deleteItem': false,
  'sqs:sendMessage': true,
};

/** The services reachable by `aws-sdk:` here. */
const SDK_SERVICES = new Set(['dynamodb', 'sqs']);

/** What a Task's `Resource` stands for; reports a resource this runtime can't call. */
export function readIntegration(reader: Reader, resource: string, path: string): Integration | undefined {
  if (FUNCTION_ARN.test(resource)) return { kind: 'function', arn: resource };
  const match = SERVICE_ARN.exec(resource);
  const [, service, action, pattern] = match ?? [];
  if (service === undefined || action === undefined) {
    fault(reader, path, `'${resource}' is neither a Lambda function's ARN nor a service integration`);
    return undefined;
  }
  const waitForToken = pattern === '.waitForTaskToken';
  if (pattern !== undefined && !waitForToken) {
    fault(reader, path, `'${pattern}' is not supported; only .waitForTaskToken is`);
    return undefined;
  }
  if (service.startsWith('aws-sdk:')) {
    if (!SDK_SERVICES.has(service.slice('aws-sdk:'.length))) {
      fault(reader, path, `'${service}' is not supported; supported: ${[...SDK_SERVICES].join(', ')}`);
      return undefined;
    }
  } else {
    const callbacks = OPTIMIZED[`${service}:${action}`];
    if (callbacks === undefined) {
      const supported = Object.keys(OPTIMIZED).join(', ');
      fault(reader, path, `'${service}:${action}' is not supported; supported: ${supported}, aws-sdk:*`);
      return undefined;
    }
    if (waitForToken && !callbacks) {
      fault(
        reader,
        path,
        `'${service}:${action}' has no .waitForTaskToken; use aws-sdk:${service}:${action}`,
      );
      return undefined;
    }
  }
  return {
    kind: 'service',
    resourceType: service,
    resource: `${action}${pattern ?? ''}`,
    action,
    waitForToken,
  };
}
