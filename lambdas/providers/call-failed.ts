import type { CallFailure } from '../core/provider.ts';

/**
 * A call that failed, and what that amounts to. Its message is for people and lands in the effect log: it holds
 * neither the request's nor the response's content, which may be personal data.
 */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  readonly failure: CallFailure;

  constructor(failure: CallFailure, cause?: unknown) {
    super(failure.message ?? failure.code, cause === undefined ? undefined : { cause });
    this.failure = failure;
  }
}

/** Reads what a shipped provider threw: what it does not know may have happened. */
export const classifyCallFailed = (error: unknown): CallFailure =>
  error instanceof CallFailed
    ? error.failure
    : { done: 'unknown', code: 'PROVIDER_FAILED', message: 'the provider failed in an unknown way' };
