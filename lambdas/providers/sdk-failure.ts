import { ConfigurationError, errorName, FAILURE_CODE_PATTERN } from '../core/errors.ts';
import type { CallFailure } from '../core/provider.ts';
import { retryAfterSeconds } from './retry-after.ts';
import { transportFailure } from './transport.ts';

/** Refusals of any AWS service that the same request outlives. */
const RETRYABLE_ANYWHERE: ReadonlySet<string> = new Set([
  'ThrottlingException',
  'Throttling',
  'TooManyRequestsException',
  'ExpiredTokenException',
  'RequestExpired',
  'RequestTimeTooSkewed',
]);

export interface SdkFailureContext {
  /** Names provider and operation. */
  readonly what: string;
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Error names that the service refuses with for the time being, beside those of every service. */
  readonly retryable: ReadonlySet<string>;
}

/** Reads what an AWS client threw. Of the error only name and status: its text may quote the request. */
export function sdkFailure(error: unknown, context: SdkFailureContext): CallFailure {
  const { what, signal, now, retryable } = context;
  const { status, retryAfter } = answerIn(error);
  if (status === undefined) return unansweredFailure(error, what, signal);
  if (status < 400) {
    const message = `${what}: HTTP ${status}, and a body that is not the service's`;
    return { done: 'unknown', code: 'PROVIDER_RESPONSE_INVALID', message };
  }
  const name = error instanceof Error ? error.name : '';
  const known = FAILURE_CODE_PATTERN.test(name) && name !== 'Error' && name !== 'SyntaxError';
  const code = known ? name : `HTTP_${status}`;
  const message = `${what}: HTTP ${status} ${known ? name : ''}`.trim();
  const wait = retryAfterSeconds(retryAfter, now);
  const later = wait === undefined ? {} : { retryAfterSeconds: wait };
  if (status === 429 || retryable.has(name) || RETRYABLE_ANYWHERE.has(name)) {
    return { done: 'no', kind: 'retryable', code, message, ...later };
  }
  if (status < 500) return { done: 'no', kind: 'terminal', code, message };
  return { done: 'unknown', code, message, ...later };
}

function unansweredFailure(error: unknown, what: string, signal: AbortSignal): CallFailure {
  const name = errorName(error);
  if (error instanceof ConfigurationError) {
    const message = `${what}: the client is not configured`;
    return { done: 'no', kind: 'terminal', code: 'PROVIDER_NOT_CONFIGURED', message };
  }
  if (name === 'CredentialsProviderError') {
    const message = `${what}: no credentials`;
    return { done: 'no', kind: 'retryable', code: 'PROVIDER_SECRET_UNAVAILABLE', message };
  }
  return transportFailure(error, what, signal);
}

/** The parts of the service's answer that the SDK hangs on its errors. */
function answerIn(error: unknown): { readonly status?: number; readonly retryAfter?: string } {
  if (!(error instanceof Error)) return {};
  const status = numberAt(error, '$metadata', 'httpStatusCode') ?? numberAt(error, '$response', 'statusCode');
  const retryAfter = at(at(at(error, '$response'), 'headers'), 'retry-after');
  return {
    ...(status === undefined ? {} : { status }),
    ...(typeof retryAfter === 'string' ? { retryAfter } : {}),
  };
}

function numberAt(value: object, ...path: readonly string[]): number | undefined {
  const found = path.reduce<unknown>(at, value);
  return typeof found === 'number' ? found : undefined;
}

/** The SDK keeps `$response` out of enumeration. */
function at(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.getOwnPropertyDescriptor(value, name)?.value
    : undefined;
}
