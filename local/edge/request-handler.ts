import { Readable } from 'node:stream';
import { type Activity, createActivity } from './activity.ts';
import { type FaultInjector, failureResponse } from './faults.ts';
import type { Dispatch, EdgeRequest, EdgeResponse } from './http.ts';
import { currentProcess, runOutsideProcess } from './process-scope.ts';
import { describeCall, type ServiceCall } from './service-call.ts';

/** The part of the SDK's HTTP request that is read. */
export interface SdkHttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The SDK's HTTP response. */
export interface SdkHttpResponse {
  statusCode: number;
  headers: Record<string, string>;
  body: unknown;
}

/** Fits any AWS SDK v3 client's `requestHandler`. */
export interface InProcessRequestHandler {
  handle(
    request: SdkHttpRequest,
    options?: { readonly abortSignal?: unknown },
  ): Promise<{ response: SdkHttpResponse }>;
  updateHttpClientConfig(): void;
  httpHandlerConfigs(): Record<string, never>;
  destroy(): void;
  /** How many calls are with a service now, not counting those that wait for the clock. */
  inFlight(): number;
}

export interface InProcessRequestHandlerOptions {
  /** Asked before every attempt. @default everything goes through */
  readonly faults?: FaultInjector;
  /** Shared between handlers whose calls are to be counted together. @default one of its own */
  readonly activity?: Activity;
  /** Told of every attempt that reaches the service, e.g. to count what a message costs. */
  readonly onCall?: (call: ServiceCall) => void;
}

/**
 * Hands the SDK's signed requests to `dispatch` without a socket.
 *
 * Calls made by a process that is dead (see `createProcessScope`) are neither sent nor answered. Errors of
 * `dispatch` itself reach the caller as they are; they are faults of the runtime, not answers.
 */
export function createInProcessRequestHandler(
  dispatch: Dispatch,
  options: InProcessRequestHandlerOptions = {},
): InProcessRequestHandler {
  const activity = options.activity ?? createActivity();

  return {
    inFlight: () => activity.inFlight(),
    updateHttpClientConfig() {},
    httpHandlerConfigs: () => ({}),
    destroy() {},
    async handle(sdkRequest, { abortSignal } = {}) {
      const signal = abortSignal instanceof AbortSignal ? abortSignal : undefined;
      signal?.throwIfAborted();
      const scope = currentProcess();
      const isDead = () => scope?.isAlive() === false;
      if (isDead()) return never();
      const request = await toEdgeRequest(sdkRequest, signal);
      const described = describeCall(request);
      const call = scope?.name === undefined ? described : { ...described, caller: scope.name };
      const fault = (await options.faults?.(call)) ?? 'none';
      if (fault === 'kill') {
        scope?.kill();
        return never();
      }
      if (isDead()) return never();
      if (fault !== 'none' && 'before' in fault)
        return sdkResponse(call, failureResponse(call, fault.before));
      options.onCall?.(call);
      const response = await activity.run(() => runOutsideProcess(() => dispatch(request)));
      const after = fault === 'none' ? undefined : fault.after;
      if (after === 'kill') {
        scope?.kill();
        return never();
      }
      if (isDead()) return never();
      return sdkResponse(call, after === undefined ? response : failureResponse(call, after));
    },
  };
}

/** What a dead process gets to see of an answer. */
function never(): Promise<never> {
  return new Promise(() => {});
}

async function toEdgeRequest(request: SdkHttpRequest, signal: AbortSignal | undefined): Promise<EdgeRequest> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request.query ?? {})) {
    for (const item of Array.isArray(value) ? value : [value ?? '']) query.append(name, item);
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) headers[name.toLowerCase()] = value;
  return {
    method: request.method,
    path: request.path,
    query,
    headers,
    body: await toBytes(request.body),
    ...(signal === undefined ? {} : { signal }),
  };
}

async function toBytes(body: unknown): Promise<Uint8Array> {
  if (body === undefined || body === null) return new Uint8Array();
  if (typeof body === 'string') return Buffer.from(body);
  if (body instanceof Uint8Array) return body;
  if (body instanceof Readable) return Buffer.concat(await body.toArray());
  throw new TypeError('a request body must be a string, bytes or a Readable to be sent in process');
}

function sdkResponse(call: ServiceCall, response: EdgeResponse): { response: SdkHttpResponse } {
  const bytes = typeof response.body === 'string' ? Buffer.from(response.body) : response.body;
  return {
    response: {
      statusCode: response.status,
      headers: { ...response.headers },
      // S3 objects are read as streams; everything else is collected at once.
      body: call.service === 's3' ? Readable.from([bytes]) : bytes,
    },
  };
}
