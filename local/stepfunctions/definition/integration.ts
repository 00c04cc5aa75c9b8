import type { JsonValue } from '../../../lambdas/core/json.ts';
import { isJsonObject } from '../../edge/json.ts';
import { INTEGRATIONS } from '../services/integrations.ts';
import { fault, type Reader, refuseUnknown } from './reader.ts';
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
  const info = INTEGRATIONS.get(`${service}:${action}`);
  if (info === undefined) {
    const supported = [...INTEGRATIONS.keys()].join(', ');
    fault(reader, path, `'${service}:${action}' is not supported; supported: ${supported}`);
    return undefined;
  }
  if (waitForToken && !info.callback) {
    fault(reader, path, `'${service}:${action}' has no .waitForTaskToken; use aws-sdk:${service}:${action}`);
    return undefined;
  }
  return {
    kind: 'service',
    resourceType: service,
    resource: `${action}${pattern ?? ''}`,
    action,
    waitForToken,
  };
}

/** Reports parameters that the integration does not take; those of an expression are seen when it runs. */
export function checkParameters(
  reader: Reader,
  integration: Integration,
  parameters: JsonValue | undefined,
  path: string,
): void {
  if (integration.kind === 'function' || !isJsonObject(parameters)) return;
  const name = `${integration.resourceType}:${integration.action}`;
  const known = INTEGRATIONS.get(name)?.parameters ?? [];
  refuseUnknown(reader, parameters, new Set(known), path, name);
}
