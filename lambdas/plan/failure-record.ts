import { errorName, RetryableFailure, TerminalFailure } from '../core/errors.ts';
import type { FailureRecord } from '../core/execution.ts';
import { TeamCodeError } from './team-code.ts';

/** A failure message as the inbox row keeps it. */
const MAX_MESSAGE_BYTES = 2_048;

/**
 * What a handler's failure amounts to.
 * @throws what was thrown, when it is neither a known failure nor the team's own exception: a fault of the function
 */
export function failureRecordOf(thrown: unknown): FailureRecord {
  if (thrown instanceof RetryableFailure || thrown instanceof TerminalFailure) {
    const retryAfter = thrown instanceof RetryableFailure ? thrown.retryAfterSeconds : undefined;
    return {
      kind: thrown.kind,
      code: thrown.code,
      message: cut(thrown.message),
      ...(retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter }),
    };
  }
  if (!(thrown instanceof TeamCodeError)) throw thrown;
  const { cause } = thrown;
  const message = cause instanceof Error ? cause.message : 'a value that is no Error was thrown';
  return { kind: 'unknown', code: errorName(cause), message: cut(message) };
}

/** At most {@link MAX_MESSAGE_BYTES} of UTF-8, cut between characters. */
function cut(message: string): string {
  const bytes = Buffer.from(message.toWellFormed());
  if (bytes.length <= MAX_MESSAGE_BYTES) return bytes.toString();
  return new TextDecoder().decode(bytes.subarray(0, MAX_MESSAGE_BYTES)).replace(/\uFFFD+$/, '');
}
