import type { JsonObject } from '../../../lambdas/core/json.ts';
import { ApiError } from '../errors.ts';
import { byteLength, PAYLOAD_BYTES } from '../limits.ts';
import { findExecution } from '../store.ts';
import { type ActionDeps, readFailure, requiredString, requireJson, validationError } from './action.ts';

/** Ends a waiting task with a result. */
export function sendTaskSuccess(deps: ActionDeps, request: JsonObject): JsonObject {
  const token = requiredString(request, 'taskToken');
  const output = requiredString(request, 'output');
  if (byteLength(output) > PAYLOAD_BYTES)
    throw validationError(`'output' is larger than ${PAYLOAD_BYTES} bytes.`);
  requireJson(output, 'InvalidOutput', 'Invalid Output');
  if (!deps.machinery.tokens.answer(token, { kind: 'success', output })) throw noTask(deps, token);
  return {};
}

/** Ends a waiting task with an error. */
export function sendTaskFailure(deps: ActionDeps, request: JsonObject): JsonObject {
  const token = requiredString(request, 'taskToken');
  if (!deps.machinery.tokens.answer(token, { kind: 'failure', ...readFailure(request) }))
    throw noTask(deps, token);
  return {};
}

/** Starts a waiting task's heartbeat time anew. */
export function sendTaskHeartbeat(deps: ActionDeps, request: JsonObject): JsonObject {
  const token = requiredString(request, 'taskToken');
  if (!deps.machinery.tokens.heartbeat(token)) throw noTask(deps, token);
  return {};
}

function noTask(deps: ActionDeps, token: string): ApiError {
  const arn = deps.machinery.tokens.executionOf(token);
  if (arn === undefined) return new ApiError('InvalidToken', "Invalid Token: 'Invalid token'");
  const gone = "'Provided task does not exist anymore'";
  return findExecution(deps.store, arn, deps.machinery.clock.now()) === undefined
    ? new ApiError('TaskDoesNotExist', `Task Does Not Exist: ${gone}`)
    : new ApiError('TaskTimedOut', `Task Timed Out: ${gone}`);
}
