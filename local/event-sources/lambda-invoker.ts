import type { Clock, NewId } from '../../lambdas/core/clock.ts';
import type { JsonValue } from '../../lambdas/core/json.ts';
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../edge/client-config.ts';
import { createProcessScope, type ProcessScope, runInProcess } from '../edge/process-scope.ts';

/** Lambda's limit on an event and on a response: 6 MB and a little. */
export const MAX_PAYLOAD_BYTES = 6_291_556;

/** Seconds between the attempts of an asynchronous invocation that fails. */
const ASYNC_RETRY_SECONDS = [60, 120];

/** What Lambda tells a function of its invocation. Declared here, so that a team's tests need no types of Lambda's. */
export interface InvocationContext {
  readonly callbackWaitsForEmptyEventLoop: boolean;
  readonly functionName: string;
  readonly functionVersion: string;
  readonly invokedFunctionArn: string;
  readonly memoryLimitInMB: string;
  readonly awsRequestId: string;
  readonly logGroupName: string;
  readonly logStreamName: string;
  getRemainingTimeInMillis(): number;
  done(): void;
  fail(): void;
  succeed(): void;
}

/** A function as the invoker runs it. */
export interface LambdaFunction {
  /** Declared as a method, so that a handler of one kind of event fits: its event source sends it no other. */
  handler(event: unknown, context: InvocationContext, callback: () => never): unknown;
  readonly timeoutSeconds: number;
  /** @default 128 */
  readonly memoryMegabytes?: number;
  /** Invocations beyond this many at once are throttled. @default no limit */
  readonly reservedConcurrency?: number;
}

/** What a failed invocation says. */
export interface FunctionError {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
}

export type InvokeOutcome =
  | { readonly status: 'succeeded'; readonly requestId: string; readonly payload: JsonValue }
  | { readonly status: 'failed'; readonly requestId: string; readonly error: FunctionError }
  /** Refused, without having run: `TooManyRequestsException`. */
  | { readonly status: 'throttled'; readonly requestId: string };

export interface LambdaInvokerOptions {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly functions: Readonly<Record<string, LambdaFunction>>;
  /** Told of every outcome but successes, e.g. to log it. */
  readonly onFailure?: (functionName: string, outcome: InvokeOutcome) => void;
}

export interface LambdaInvoker {
  /**
   * Runs a function and waits for its outcome, at most until its time-out. The event goes through JSON.
   *
   * @throws Error when there is no such function or the event is over 6 MB.
   */
  invoke(functionName: string, event: unknown): Promise<InvokeOutcome>;
  /** Runs a function and forgets its result; one that fails runs again after 1 and after 2 minutes. */
  invokeAsync(functionName: string, event: unknown): void;
  /** How many invocations have not ended yet. */
  running(): number;
  has(functionName: string): boolean;
}

/** The ARN of a local function. */
export function functionArn(functionName: string): string {
  return `arn:aws:lambda:${LOCAL_REGION}:${LOCAL_ACCOUNT}:function:${functionName}`;
}

/**
 * Runs handlers in this process as Lambda would: JSON in and out, a context, a time-out, size limits, errors
 * by name. An invocation that timed out or was killed makes no further calls through in-process clients.
 */
export function createLambdaInvoker({
  clock,
  newId,
  functions,
  onFailure,
}: LambdaInvokerOptions): LambdaInvoker {
  const active = new Map<string, number>();

  function lookUp(name: string): LambdaFunction {
    const found = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (found === undefined) {
      throw new Error(
        `there is no function ${name}; known are ${Object.keys(functions).join(', ') || 'none'}`,
      );
    }
    return found;
  }

  async function runCounted(name: string, definition: LambdaFunction, event: string): Promise<InvokeOutcome> {
    const requestId = newId();
    const count = active.get(name) ?? 0;
    if (count >= (definition.reservedConcurrency ?? Number.POSITIVE_INFINITY)) {
      return { status: 'throttled', requestId };
    }
    active.set(name, count + 1);
    try {
      return await runOnce(clock, name, definition, event, requestId);
    } finally {
      active.set(name, (active.get(name) ?? 1) - 1);
    }
  }

  async function invoke(name: string, event: unknown): Promise<InvokeOutcome> {
    const definition = lookUp(name);
    const text = JSON.stringify(event ?? null);
    const bytes = Buffer.byteLength(text);
    if (bytes > MAX_PAYLOAD_BYTES) {
      throw new Error(`the event for ${name} has ${bytes} bytes, more than the ${MAX_PAYLOAD_BYTES} allowed`);
    }
    const outcome = await runCounted(name, definition, text);
    if (outcome.status !== 'succeeded') onFailure?.(name, outcome);
    return outcome;
  }

  async function invokeWithRetries(name: string, event: unknown): Promise<void> {
    for (const seconds of [...ASYNC_RETRY_SECONDS, undefined]) {
      const { status } = await invoke(name, event);
      if (status === 'succeeded' || seconds === undefined) return;
      await clock.sleep(seconds * 1_000);
    }
  }

  return {
    invoke,
    invokeAsync(name, event) {
      lookUp(name);
      void invokeWithRetries(name, event);
    },
    running: () => [...active.values()].reduce((sum, count) => sum + count, 0),
    has: (name) => Object.hasOwn(functions, name),
  };
}

async function runOnce(
  clock: Clock,
  name: string,
  definition: LambdaFunction,
  eventText: string,
  requestId: string,
): Promise<InvokeOutcome> {
  const scope = createProcessScope(name);
  const timer = new AbortController();
  const deadline = clock.now() + definition.timeoutSeconds * 1_000;
  const fail = (errorType: string, message: string): InvokeOutcome => ({
    status: 'failed',
    requestId,
    error: { errorType, errorMessage: `RequestId: ${requestId} Error: ${message}` },
  });
  const handled = runInProcess(scope, async (): Promise<InvokeOutcome> => {
    try {
      const context = createContext(clock, name, definition, requestId, deadline);
      const result: unknown = await definition.handler(JSON.parse(eventText), context, refuseCallback);
      return serialise(result, requestId);
    } catch (error) {
      return { status: 'failed', requestId, error: describeError(error) };
    }
  });
  const timedOut = clock.sleep(deadline - clock.now(), timer.signal).then(
    () => {
      scope.kill();
      return fail('Sandbox.Timedout', `Task timed out after ${definition.timeoutSeconds.toFixed(2)} seconds`);
    },
    () => new Promise<never>(() => {}),
  );
  const outcome = await Promise.race([handled, timedOut, exited(scope, fail)]);
  timer.abort();
  return outcome;
}

/** The outcome of a process that dies before its time is up. */
async function exited(
  scope: ProcessScope,
  fail: (errorType: string, message: string) => InvokeOutcome,
): Promise<InvokeOutcome> {
  await scope.died;
  return fail('Runtime.ExitError', 'Runtime exited with error: signal: killed');
}

function refuseCallback(): never {
  throw new Error('the Node.js 24 runtime has no callbacks: return a promise from the handler');
}

function createContext(
  clock: Clock,
  functionName: string,
  definition: LambdaFunction,
  awsRequestId: string,
  deadline: number,
): InvocationContext {
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: functionArn(functionName),
    memoryLimitInMB: String(definition.memoryMegabytes ?? 128),
    awsRequestId,
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: 'local',
    getRemainingTimeInMillis: () => Math.max(0, deadline - clock.now()),
    done: refuseCallback,
    fail: refuseCallback,
    succeed: refuseCallback,
  };
}

function serialise(result: unknown, requestId: string): InvokeOutcome {
  const failed = (errorType: string, errorMessage: string): InvokeOutcome => ({
    status: 'failed',
    requestId,
    error: { errorType, errorMessage, trace: [] },
  });
  let text: string;
  try {
    text = JSON.stringify(result) ?? 'null';
  } catch {
    return failed('Runtime.MarshalError', 'Unable to stringify response body');
  }
  if (Buffer.byteLength(text) > MAX_PAYLOAD_BYTES) {
    const message = `Response payload size exceeded maximum allowed payload size (${MAX_PAYLOAD_BYTES} bytes).`;
    return failed('Function.ResponseSizeTooLarge', message);
  }
  return { status: 'succeeded', requestId, payload: JSON.parse(text) };
}

function describeError(error: unknown): FunctionError {
  if (error instanceof Error) {
    return {
      errorType: error.name,
      errorMessage: error.message,
      trace: (error.stack ?? `${error.name}: ${error.message}`).split('\n'),
    };
  }
  return { errorType: typeof error, errorMessage: String(error), trace: [] };
}
