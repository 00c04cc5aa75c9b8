import { OPTIMIZED_ACTIONS, SDK_ACTIONS } from '../services/integrations.ts';
import { fault, type Reader } from './reader.ts';
import type { Integration } from './types.ts';

const FUNCTION_ARN = /^arn:[\w-]+:lambda:[\w-]+:\d{12}:function:[\w-]+(:[\w$-]+)?$/;
const SERVICE_ARN =
  /^arn:[\w-]+:states:[\w-]*:\d{0,12}:(aws-sdk:[a-z0-9]+|[a-z0-9-]+):([A-Za-z0-9]+)(\.\w+)?$/;

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
    if (!SDK_ACTIONS.get(service)?.has(action)) {
      const supported = [...SDK_ACTIONS].flatMap(([name, actions]) =>
        [...actions].map((item) => `${name}:${item}`),
      );
      fault(reader, path, `'${service}:${action}' is not supported; supported: ${supported.join(', ')}`);
      return undefined;
    }
  } else {
    const callbacks = OPTIMIZED_ACTIONS.get(`${service}:${action}`);
    if (callbacks === undefined) {
      const supported = [...OPTIMIZED_ACTIONS.keys()].join(', ');
      fault(reader, path, `'${service}:${action}' is not supported; supported: ${supported} and aws-sdk:*`);
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
