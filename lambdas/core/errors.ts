/**
 * The failures that handlers, providers and the worker itself know by name.
 *
 * `name` is a literal on every class: Step Functions reports a Lambda error under its `name`,
 * the state machine matches on it, and a minified class name would not match.
 */

/** A failure code: what an operator greps for, what `terminalAfterCodes` and alarms name. */
export type FailureCode = string;

/** What a code may look like: it becomes a Step Functions error name and a metric dimension. */
export const FAILURE_CODE_PATTERN = /^[A-Za-z][A-Za-z0-9_.]{0,99}$/;

/** What a failure says beside its code. */
export interface FailureOptions {
  /** For people: what happened. Kept in the inbox row (at most 2 KB) and never logged. */
  readonly message?: string;
  /** The error behind it, as in JavaScript's own `Error`. */
  readonly cause?: unknown;
}

/** What a {@link RetryableFailure} says beside its code. */
export interface RetryableFailureOptions extends FailureOptions {
  /** The next attempt starts no sooner than this many seconds from now. */
  readonly retryAfterSeconds?: number;
}

/** The same in every copy of this package: handlers may be written against another one than the worker runs. */
const KINDS = Symbol.for('stepwell.failure.kinds');

/** `instanceof` by what a failure says it is; a team's own subclass is asked in the ordinary way. */
function hasInstance(this: { readonly [KINDS]: readonly unknown[] }, value: unknown): boolean {
  if (!Object.hasOwn(this, KINDS)) return Function.prototype[Symbol.hasInstance].call(this, value);
  return value instanceof Error && KINDS in value && 'kind' in value && this[KINDS].includes(value.kind);
}

/** The base of every failure that carries its own kind: retryability is declared, never read out of a text. */
export abstract class WorkerFailure extends Error {
  static readonly [KINDS]: readonly unknown[] = ['retryable', 'terminal'];
  static override readonly [Symbol.hasInstance] = hasInstance;
  readonly [KINDS] = true;
  abstract readonly kind: 'retryable' | 'terminal';
  readonly code: FailureCode;

  constructor(code: FailureCode, options: FailureOptions) {
    super(options.message ?? code, options.cause === undefined ? undefined : { cause: options.cause });
    if (!FAILURE_CODE_PATTERN.test(code)) {
      throw new TypeError(
        'A failure code must match [A-Za-z][A-Za-z0-9_.]{0,99}, because it becomes an error name and a metric dimension',
      );
    }
    this.code = code;
  }
}

/** It may work later: counts as a business attempt and is tried again after a back-off. */
export class RetryableFailure extends WorkerFailure {
  static override readonly [KINDS] = ['retryable'];
  override readonly name = 'RetryableFailure';
  readonly kind = 'retryable';
  readonly retryAfterSeconds: number | undefined;

  constructor(code: FailureCode, options: RetryableFailureOptions = {}) {
    super(code, options);
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** It will not work however often it is tried: goes to quarantine, where a person decides. */
export class TerminalFailure extends WorkerFailure {
  static override readonly [KINDS] = ['terminal'];
  override readonly name = 'TerminalFailure';
  readonly kind = 'terminal';

  constructor(code: FailureCode, message?: string, options: Omit<FailureOptions, 'message'> = {}) {
    super(code, message === undefined ? options : { ...options, message });
  }
}

/** The setting, file or definition that the deployer gave is wrong. Thrown at init or synth, never per message. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** Codes that the worker itself produces, each listed with the operator's next step in docs/failure-codes.md. */
export const FAILURE_CODES = {
  INVALID_ENVELOPE: 'INVALID_ENVELOPE',
  UNKNOWN_MESSAGE_TYPE: 'UNKNOWN_MESSAGE_TYPE',
  UNKNOWN_SCHEMA_VERSION: 'UNKNOWN_SCHEMA_VERSION',
  INVALID_PAYLOAD: 'INVALID_PAYLOAD',
  IDEMPOTENCY_HASH_MISMATCH: 'IDEMPOTENCY_HASH_MISMATCH',
  PLAN_INVALID: 'PLAN_INVALID',
  PLAN_TOO_LARGE: 'PLAN_TOO_LARGE',
  INFRASTRUCTURE: 'INFRASTRUCTURE',
  CONTENTION: 'CONTENTION',
  ATTEMPTS_EXHAUSTED: 'ATTEMPTS_EXHAUSTED',
  RETRY_WINDOW_CLOSED: 'RETRY_WINDOW_CLOSED',
  VERSION_CONFLICT: 'VERSION_CONFLICT',
  ORDERING_GAP: 'ORDERING_GAP',
  EFFECT_HASH_MISMATCH: 'EFFECT_HASH_MISMATCH',
  EFFECT_IN_PROGRESS: 'EFFECT_IN_PROGRESS',
  UNKNOWN_PROVIDER: 'UNKNOWN_PROVIDER',
  PAYLOAD_BUCKET_NOT_ALLOWED: 'PAYLOAD_BUCKET_NOT_ALLOWED',
  PAYLOAD_NOT_FOUND: 'PAYLOAD_NOT_FOUND',
  PAYLOAD_CHECKSUM_MISMATCH: 'PAYLOAD_CHECKSUM_MISMATCH',
  PAYLOAD_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  PAYLOAD_ACCESS_DENIED: 'PAYLOAD_ACCESS_DENIED',
  FORGOTTEN: 'FORGOTTEN',
  EXECUTION_ABORTED: 'EXECUTION_ABORTED',
  EXECUTION_TIMED_OUT: 'EXECUTION_TIMED_OUT',
  EXECUTION_FAILED: 'EXECUTION_FAILED',
} as const;

/** What a JavaScript `throw` gave, as an error name that Step Functions and a metric can carry. */
export function errorName(thrown: unknown): string {
  const name = thrown instanceof Error ? thrown.name : 'UnknownFailure';
  return FAILURE_CODE_PATTERN.test(name) ? name : 'UnknownFailure';
}
