import type { JsonObject, JsonValue } from '../../../lambdas/core/json.ts';

/** What a Lambda function answered: its payload, or the error it ended with. */
export type LambdaAnswer =
  | {
      readonly payload: JsonValue;
      /** Bytes of the response as the function wrote it. @default the payload's compact JSON */
      readonly payloadBytes?: number;
    }
  | { readonly functionError: FunctionError };

/** The payload of a failed function: `errorType` becomes the error's name, the whole its cause. */
interface FunctionError extends JsonObject {
  readonly errorType: string;
  readonly errorMessage: string;
}

/** What Tasks call. Both reject with StateError for the errors of the service itself. */
export interface TaskServices {
  /**
   * Invokes a function synchronously.
   * @param functionName a name or an ARN
   * @param payload JSON text
   */
  invokeLambda(functionName: string, payload: string, signal?: AbortSignal): Promise<LambdaAnswer>;
  /**
   * Calls another service.
   * @param service `dynamodb`, `sqs`, or `aws-sdk:<service>`
   * @param action in camel case, e.g. `putItem`
   */
  callAws(service: string, action: string, parameters: JsonObject, signal?: AbortSignal): Promise<JsonValue>;
}
