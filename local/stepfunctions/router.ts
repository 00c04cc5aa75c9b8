import type { JsonObject, JsonValue } from '../../lambdas/core/json.ts';
import { isJsonObject } from '../edge/json.ts';
import type { Action, ActionDeps } from './api/action.ts';
import { describeExecution } from './api/describe-execution.ts';
import { getExecutionHistory } from './api/get-execution-history.ts';
import { listExecutions } from './api/list-executions.ts';
import { redriveExecution } from './api/redrive-execution.ts';
import { sendTaskFailure, sendTaskHeartbeat, sendTaskSuccess } from './api/send-task.ts';
import { startExecution } from './api/start-execution.ts';
import {
  describeStateMachine,
  describeStateMachineForExecution,
  listStateMachines,
} from './api/state-machines.ts';
import { stopExecution } from './api/stop-execution.ts';

import { ApiError } from './errors.ts';

/** A request of the AWS JSON 1.0 protocol. */
export interface ApiRequest {
  /** The `X-Amz-Target` header, e.g. `AWSStepFunctions.StartExecution`. */
  readonly target: string | undefined;
  readonly body: string;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const PREFIX = 'AWSStepFunctions.';

const ACTIONS: ReadonlyMap<string, Action> = new Map(
  Object.entries({
    DescribeExecution: describeExecution,
    DescribeStateMachine: describeStateMachine,
    DescribeStateMachineForExecution: describeStateMachineForExecution,
    GetExecutionHistory: getExecutionHistory,
    ListExecutions: listExecutions,
    ListStateMachines: listStateMachines,
    RedriveExecution: redriveExecution,
    SendTaskFailure: sendTaskFailure,
    SendTaskHeartbeat: sendTaskHeartbeat,
    SendTaskSuccess: sendTaskSuccess,
    StartExecution: startExecution,
    StopExecution: stopExecution,
  }),
);

/** Answers one request; errors become the protocol's error answers. */
export function route(deps: ActionDeps, request: ApiRequest): ApiResponse {
  const requestId = deps.machinery.newId();
  try {
    const name = request.target?.startsWith(PREFIX) ? request.target.slice(PREFIX.length) : undefined;
    const action = name === undefined ? undefined : ACTIONS.get(name);
    if (action === undefined) {
      const known = [...ACTIONS.keys()].join(', ');
      throw new ApiError(
        'UnknownOperationException',
        `'${request.target ?? ''}' is not supported here; supported: ${known}`,
      );
    }
    return respond(200, requestId, action(deps, parseBody(request.body)));
  } catch (error) {
    if (error instanceof ApiError) {
      return respond(400, requestId, { __type: error.name, message: error.message });
    }
    const message = error instanceof Error ? error.message : String(error);
    return respond(500, requestId, { __type: 'InternalFailure', message });
  }
}

function parseBody(body: string): JsonObject {
  try {
    const value: JsonValue = body === '' ? {} : JSON.parse(body);
    if (isJsonObject(value)) return value;
  } catch {
    // Answered below, like every other body that is no object.
  }
  throw new ApiError('SerializationException', 'The request body must be a JSON object.');
}

function respond(status: number, requestId: string, body: JsonObject): ApiResponse {
  return {
    status,
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': requestId },
    body: JSON.stringify(body),
  };
}
