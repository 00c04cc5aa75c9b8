import type { JsonObject, JsonValue } from '../../../lambdas/core/json.ts';
import { isJsonObject } from '../../edge/json.ts';
import { type Machinery, parseJson } from '../context.ts';

import type { TaskState } from '../definition/types.ts';
import { StateError } from '../errors.ts';
import type { TaskRun } from '../execution.ts';
import type { LambdaAnswer } from '../services/task-services.ts';

/** Makes the call of one attempt; returns the answer as JSON text. */
export async function callTask(
  machinery: Machinery,
  state: TaskState,
  run: TaskRun,
  signal: AbortSignal,
): Promise<string> {
  const { integration } = state;
  const { services } = machinery;
  if (integration.kind === 'function') {
    return JSON.stringify((await invoke(machinery, integration.arn, run.parameters, signal)).payload);
  }
  const parameters = parseJson(run.parameters);
  if (!isJsonObject(parameters)) {
    throw new StateError('States.Runtime', `The Arguments of the state '${state.name}' must be an object.`);
  }
  if (integration.resourceType === 'lambda') return invokeByArguments(machinery, parameters, signal);
  return JSON.stringify(
    await services.callAws(integration.resourceType, integration.action, parameters, signal),
  );
}

/** `lambda:invoke`: the payload with what the service reports around it. */
async function invokeByArguments(
  machinery: Machinery,
  parameters: JsonObject,
  signal: AbortSignal,
): Promise<string> {
  const { FunctionName: name, Payload: payload, ...others } = parameters;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw new StateError('States.Runtime', `The field '${unknown}' of lambda:invoke is not supported here.`);
  }
  if (typeof name !== 'string') {
    throw new StateError('States.Runtime', "'FunctionName' must be a function's name or ARN.");
  }
  // A null payload is no payload, and a function that gets none sees an empty object.
  const text = JSON.stringify(payload ?? {});
  const answer = await invoke(machinery, name, text, signal);
  return JSON.stringify(envelope(answer, machinery));
}

async function invoke(
  { services }: Machinery,
  functionName: string,
  payload: string,
  signal: AbortSignal,
): Promise<Extract<LambdaAnswer, { payload: JsonValue }>> {
  const answer = await services.invokeLambda(functionName, payload, signal);
  if ('payload' in answer) return answer;
  throw new StateError(answer.functionError.errorType, JSON.stringify(answer.functionError));
}

function envelope(
  { payload, payloadBytes }: Extract<LambdaAnswer, { payload: JsonValue }>,
  { clock, newId }: Machinery,
): JsonObject {
  const requestId = newId();
  const headers = {
    Connection: 'keep-alive',
    'Content-Length': String(payloadBytes ?? Buffer.byteLength(JSON.stringify(payload))),
    'Content-Type': 'application/json',
    Date: new Date(clock.now()).toUTCString(),
    'X-Amz-Executed-Version': '$LATEST',
    'x-amzn-Remapped-Content-Length': '0',
    'x-amzn-RequestId': requestId,
    'X-Amzn-Trace-Id': `Root=${requestId};Sampled=0`,
  };
  return {
    ExecutedVersion: '$LATEST',
    Payload: payload,
    SdkHttpMetadata: {
      AllHttpHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
      HttpHeaders: headers,
      HttpStatusCode: 200,
    },
    SdkResponseMetadata: { RequestId: requestId },
    StatusCode: 200,
  };
}
