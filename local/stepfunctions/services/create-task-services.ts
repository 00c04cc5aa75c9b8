import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { NewId } from '../../../lambdas/core/clock.ts';
import type { JsonObject, JsonValue } from '../../../lambdas/core/json.ts';
import { StateError } from '../errors.ts';
import { callDynamoDb } from './dynamodb.ts';
import { unusable } from './parameters.ts';
import { toServiceError } from './service-error.ts';
import { callSqs } from './sqs.ts';
import type { TaskServices } from './task-services.ts';

/** Runs functions, as the local Lambda invoker does. */
interface FunctionInvoker {
  has(functionName: string): boolean;
  invoke(
    functionName: string,
    event: unknown,
  ): Promise<
    | { readonly status: 'succeeded'; readonly payload: JsonValue }
    | {
        readonly status: 'failed';
        readonly error: {
          readonly errorType: string;
          readonly errorMessage: string;
          readonly trace?: readonly string[];
        };
      }
    | { readonly status: 'throttled' }
  >;
}

export interface TaskServicesDeps {
  readonly clients: { readonly dynamodb: DynamoDBClient; readonly sqs: SQSClient };
  readonly lambdas: FunctionInvoker;
  readonly newId: NewId;
}

/** Task services on real SDK clients and locally run functions. */
export function createTaskServices({ clients, lambdas, newId }: TaskServicesDeps): TaskServices {
  const lambdaError = (name: string, message: string, status: number) =>
    new StateError(
      `Lambda.${name}`,
      `${message} (Service: Lambda, Status Code: ${status}, Request ID: ${newId()})`,
    );

  return {
    async invokeLambda(functionName, payload) {
      const name = nameOf(functionName);
      if (!lambdas.has(name)) {
        throw lambdaError('ResourceNotFoundException', `Function not found: ${functionName}`, 404);
      }
      const outcome = await lambdas.invoke(name, JSON.parse(payload));
      switch (outcome.status) {
        case 'succeeded':
          return { payload: outcome.payload };
        case 'failed': {
          const { errorType, errorMessage, trace } = outcome.error;
          return {
            functionError: { errorType, errorMessage, ...(trace === undefined ? {} : { trace }) },
          };
        }
        case 'throttled':
          throw lambdaError('TooManyRequestsException', 'Rate Exceeded.', 429);
      }
    },
    async callAws(service, action, parameters, signal) {
      try {
        const answer = await call(service, action, parameters, signal);
        return service.startsWith('aws-sdk:') ? answer : { ...answer, ...metadata(newId()) };
      } catch (error) {
        throw toServiceError(service, error);
      }
    },
  };

  function call(
    service: string,
    action: string,
    parameters: JsonObject,
    signal: AbortSignal | undefined,
  ): Promise<JsonObject> {
    switch (service) {
      case 'dynamodb':
        return callDynamoDb(clients.dynamodb, action, parameters, false, signal);
      case 'aws-sdk:dynamodb':
        return callDynamoDb(clients.dynamodb, action, parameters, true, signal);
      case 'sqs':
      case 'aws-sdk:sqs':
        return callSqs(clients.sqs, action, parameters, signal);
      default:
        throw unusable(`'${service}' is not supported by this runtime`);
    }
  }
}

/** The function's name, from a name, a partial or full ARN, with or without a qualifier. */
function nameOf(functionName: string): string {
  const match = /(?:^|:function:)([\w-]+)(?::[\w$-]+)?$/.exec(functionName);
  return match?.[1] ?? functionName;
}

/** Optimized integrations report the HTTP exchange with the answer. */
function metadata(requestId: string): JsonObject {
  return {
    SdkHttpMetadata: { HttpHeaders: { 'x-amzn-RequestId': requestId }, HttpStatusCode: 200 },
    SdkResponseMetadata: { RequestId: requestId },
  };
}
