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
/** Whatever its code, a system call that only opens a connection has sent nothing. */
const OPENING: ReadonlySet<string> = new Set(['connect', 'getaddrinfo']);

/** The handshake failed, or its certificate was refused: the request is sent after it. */
const UNTRUSTED =
  /^(CERT_|ERR_TLS_CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)|ERR_SSL_(WRONG_VERSION_NUMBER|.*_ALERT_(HANDSHAKE_FAILURE|PROTOCOL_VERSION)$))/;

/**
 * What a connection that failed amounts to.
 *
 * @param error what the client threw
 * @param what names provider and operation
 * @param signal the call's: once it is aborted, whatever was thrown means that there was no answer in time
 */
export function transportFailure(error: unknown, what: string, signal: AbortSignal): CallFailure {
  const errors = systemErrors(error);
  const opening = errors.find(({ code, syscall }) => NOT_CONNECTED.has(code) || OPENING.has(syscall));
  if (opening !== undefined) {
    const message = `${what}: no connection (${opening.code})`;
    return { done: 'no', kind: 'retryable', code: 'PROVIDER_UNREACHABLE', message };
  }
  const untrusted = errors.find(({ code }) => UNTRUSTED.test(code));
  if (untrusted !== undefined) {
    const message = `${what}: no trusted TLS connection (${untrusted.code})`;
    return { done: 'no', kind: 'retryable', code: 'PROVIDER_UNTRUSTED', message };
  }
  if (signal.aborted || (error instanceof Error && error.name === 'TimeoutError')) {
    return { done: 'unknown', code: 'PROVIDER_TIMEOUT', message: `${what}: no answer in time` };
  }
  return { done: 'unknown', code: 'PROVIDER_CONNECTION_LOST', message: `${what}: the connection broke off` };
}

/** The errors with a code behind one that a client threw; of several addresses tried, the last one's. */
function systemErrors(error: unknown): readonly { readonly code: string; readonly syscall: string }[] {
  const found: { code: string; syscall: string }[] = [];
  let at = error;
  for (let depth = 0; at instanceof Error && depth < 5; depth += 1) {
    const code = 'code' in at && typeof at.code === 'string' ? at.code : '';
    const syscall = 'syscall' in at && typeof at.syscall === 'string' ? at.syscall : '';
    if (code !== '' || syscall !== '') found.push({ code, syscall });
    at = at instanceof AggregateError ? at.errors.at(-1) : at.cause;
  }
  return found;
}
