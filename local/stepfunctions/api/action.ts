import type { JsonObject, JsonValue } from '../../../lambdas/core/json.ts';
import type { Machinery } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { Execution } from '../execution.ts';
import { CAUSE_CHARACTERS, ERROR_CHARACTERS } from '../limits.ts';
import type { Runner } from '../runner.ts';
import { findExecution, type Machine, type Store } from '../store.ts';

/** What the API's actions work on. */
export interface ActionDeps {
  readonly store: Store;
  readonly runner: Runner;
  readonly machinery: Machinery;
  readonly accountId: string;
  /** Takes one StartExecution from the quota. @returns false when it is used up. */
  readonly takeStart: () => boolean;
  readonly onStatusChange: (execution: Execution) => void;
}

/** One action of the API: checks the request, does the work, gives the answer. */
export type Action = (deps: ActionDeps, request: JsonObject) => JsonObject;

/** Epoch seconds, as the protocol writes times. */
export function seconds(time: number): number {
  return time / 1000;
}

/** Drops members that are undefined. */
export function compact(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const present: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(members)) if (value !== undefined) present[key] = value;
  return present;
}

export function validationError(message: string): ApiError {
  return new ApiError('ValidationException', message);
}

export function optionalString(request: JsonObject, key: string): string | undefined {
  const value = request[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw validationError(`'${key}' must be a string.`);
  return value;
}

/** An `error` and a `cause`, within the lengths that the service takes. */
export function readFailure(request: JsonObject): {
  readonly error: string | undefined;
  readonly cause: string | undefined;
} {
  return {
    error: limited(request, 'error', ERROR_CHARACTERS),
    cause: limited(request, 'cause', CAUSE_CHARACTERS),
  };
}

function limited(request: JsonObject, key: string, characters: number): string | undefined {
  const value = optionalString(request, key);
  if (value !== undefined && value.length > characters) {
    throw validationError(`'${key}' has more than ${characters} characters.`);
  }
  return value;
}

export function requiredString(request: JsonObject, key: string): string {
  const value = optionalString(request, key);
  if (value === undefined || value === '') throw validationError(`'${key}' is required.`);
  return value;
}

export function optionalBoolean(request: JsonObject, key: string, fallback: boolean): boolean {
  const value = request[key];
  if (value === undefined || value === null) return fallback;
  if (typeof value !== 'boolean') throw validationError(`'${key}' must be a boolean.`);
  return value;
}

const DEFAULT_PAGE = 100;
const MAX_PAGE = 1000;

/** `maxResults`: 100 when it is absent or 0, at most 1,000. */
export function pageSize(request: JsonObject): number {
  const value = request.maxResults;
  if (value === undefined || value === null || value === 0) return DEFAULT_PAGE;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > MAX_PAGE) {
    throw validationError(`'maxResults' must be an integer from 0 to ${MAX_PAGE}.`);
  }
  return value;
}

/** The position that a `nextToken` stands for. */
export function readPageToken(request: JsonObject): number | undefined {
  const token = optionalString(request, 'nextToken');
  if (token === undefined) return undefined;
  const text = Buffer.from(token, 'base64url').toString();
  if (!/^\d{1,15}$/.test(text)) throw new ApiError('InvalidToken', "Invalid Token: 'Invalid token'");
  return Number(text);
}

export function pageToken(position: number): string {
  return Buffer.from(String(position)).toString('base64url');
}

const ARN = /^arn:[\w-]+:states:[\w-]+:\d{12}:(stateMachine|execution):\S+$/;

function requireArn(request: JsonObject, key: string): string {
  const arn = requiredString(request, key);
  if (!ARN.test(arn)) throw new ApiError('InvalidArn', `Invalid Arn: 'Invalid ARN prefix: ${arn}'`);
  return arn;
}

export function requireMachine(deps: ActionDeps, request: JsonObject): Machine {
  const arn = requireArn(request, 'stateMachineArn');
  const machine = deps.store.machines.get(arn);
  if (machine === undefined) {
    throw new ApiError('StateMachineDoesNotExist', `State Machine Does Not Exist: '${arn}'`);
  }
  return machine;
}

export function requireExecution(deps: ActionDeps, request: JsonObject): Execution {
  const arn = requireArn(request, 'executionArn');
  const execution = findExecution(deps.store, arn, deps.machinery.clock.now());
  if (execution === undefined) {
    throw new ApiError('ExecutionDoesNotExist', `Execution Does Not Exist: '${arn}'`);
  }
  return execution;
}

/** Checks that a text is JSON; `name` is the exception to answer with otherwise. */
export function requireJson(text: string, name: string, label: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ApiError(name, `${label}: '${reason}'`);
  }
}
