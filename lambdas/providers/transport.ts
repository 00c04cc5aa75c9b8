import type { CallFailure } from '../core/provider.ts';

/** Nothing was sent: no address, or nobody there who takes a connection. */
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** A certificate is refused in the handshake, before the request is sent. */
const UNTRUSTED = /^(CERT_|ERR_TLS_CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(GET_ISSUER|VERIFY_LEAF))/;

/**
 * What a connection that failed amounts to.
 *
 * @param error what the client threw
 * @param what names provider and operation
 * @param signal the call's: once it is aborted, whatever was thrown means that there was no answer in time
 */
export function transportFailure(error: unknown, what: string, signal: AbortSignal): CallFailure {
  const code = systemCode(error);
  if (NOT_CONNECTED.has(code)) {
    const message = `${what}: no connection (${code})`;
    return { done: 'no', kind: 'retryable', code: 'PROVIDER_UNREACHABLE', message };
  }
  if (UNTRUSTED.test(code)) {
    const message = `${what}: the certificate is not trusted (${code})`;
    return { done: 'no', kind: 'retryable', code: 'PROVIDER_UNTRUSTED', message };
  }
  if (signal.aborted || (error instanceof Error && error.name === 'TimeoutError')) {
    return { done: 'unknown', code: 'PROVIDER_TIMEOUT', message: `${what}: no answer in time` };
  }
  return { done: 'unknown', code: 'PROVIDER_CONNECTION_LOST', message: `${what}: the connection broke off` };
}

/** The system's code of a failure, which clients keep at different depths. */
function systemCode(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return '';
}
