import { type EdgeResponse, jsonResponse, xmlResponse } from './http.ts';
import type { ServiceCall } from './service-call.ts';

/** How a call goes wrong. A bare status gets the code that the service would send with it. */
export type Failure =
  | 'timeout'
  | 'connection-reset'
  | number
  | { readonly status: number; readonly code: string; readonly message?: string };

/**
 * What happens to one attempt of a call.
 *
 * - `none`: it goes through.
 * - `before`: it fails without having reached the service.
 * - `after`: it takes effect, but the answer is replaced by the failure.
 * - `kill`: the caller's process dies: no effect, no answer ever, and no further call of the invocation that it
 *   belongs to; `{ after: 'kill' }` dies after the effect.
 */
export type Fault = 'none' | 'kill' | { readonly before: Failure } | { readonly after: Failure | 'kill' };

/** Decides the fate of each attempt; may wait first, which delays the request. */
export type FaultInjector = (call: ServiceCall) => Fault | Promise<Fault>;

/** An error as the SDK's own HTTP handler throws it, so that its retry rules recognise it. */
function transportError(name: string, code: string, message: string): Error {
  return Object.assign(new Error(message), { name, code });
}

function defaultCode({ service }: ServiceCall, status: number): string {
  if (status === 403) return service === 's3' ? 'AccessDenied' : 'AccessDeniedException';
  if (status === 429) return service === 'lambda' ? 'TooManyRequestsException' : 'ThrottlingException';
  if (status === 400) return 'ThrottlingException';
  if (status === 503) return service === 's3' ? 'SlowDown' : 'ServiceUnavailable';
  return service === 's3' ? 'InternalError' : 'InternalServerError';
}

/** Turns a failure into the error thrown or the answer given. Throws for the two transport failures. */
export function failureResponse(call: ServiceCall, failure: Failure): EdgeResponse {
  const where = `${call.service}:${call.operation}`;
  if (failure === 'timeout') {
    throw transportError('TimeoutError', 'ETIMEDOUT', `${where} was not answered in time (injected)`);
  }
  if (failure === 'connection-reset') {
    throw transportError('Error', 'ECONNRESET', `the connection of ${where} was reset (injected)`);
  }
  const status = typeof failure === 'number' ? failure : failure.status;
  const code = typeof failure === 'number' ? defaultCode(call, failure) : failure.code;
  const message = (typeof failure === 'number' ? undefined : failure.message) ?? `${where} failed (injected)`;
  if (call.service === 's3') {
    return xmlResponse(status, `<Error><Code>${code}</Code><Message>${message}</Message></Error>`);
  }
  return jsonResponse(status, { __type: code, message }, { 'x-amzn-errortype': code });
}
