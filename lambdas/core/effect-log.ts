import type { WireEffect } from './decision.ts';
import type { EffectRow } from './effects.ts';
import type { PayloadRef } from './envelope.ts';
import type { JsonValue } from './json.ts';

/** Who takes a lease, until when, and for whose attempt. */
export interface Lease {
  /** The invocation, not the execution: Step Functions may retry while the first invocation still runs. */
  readonly owner: string;
  /** Epoch milliseconds. */
  readonly until: number;
  /** ISO 8601 */
  readonly at: string;
  readonly executionName: string;
  readonly budget: string;
}

/** What a call is made with, as the row says it. */
export interface Claim {
  readonly generation: number;
  readonly requestHash: string;
  readonly request: JsonValue;
  /** Calls made within the budget, this one included. */
  readonly tries: number;
}

/** The answer of the provider, ready to be kept. */
export interface RecordedAnswer {
  readonly reference?: string;
  readonly response?: JsonValue;
  /** Where a response lies that is too large for the row. */
  readonly responseRef?: PayloadRef;
  /** ISO 8601 */
  readonly at: string;
}

export interface RecordedFailure {
  readonly kind: 'retryable' | 'terminal';
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
  /** A call under the present key may have happened. */
  readonly unsettled: boolean;
  /** The business attempt that this failure stands for. */
  readonly failedIn: string;
  /** ISO 8601 */
  readonly at: string;
}

export interface Doubt {
  readonly code: string;
  readonly message: string;
  /** ISO 8601 */
  readonly at: string;
}

/** A result that came when the row was no longer its caller's. */
export interface LateResult {
  readonly owner: string;
  readonly outcome: string;
  readonly reference?: string;
  /** ISO 8601 */
  readonly at: string;
}

/** A conditional write: done, or refused by the row as it is; no row when there is none. */
export type LogWrite =
  | { readonly written: true }
  | { readonly written: false; readonly row: EffectRow | undefined };

/** The effect log. Every write is conditional; each method says what race its condition is for. */
export interface EffectLog {
  /** Writes the row of a first call. Condition: there is none. Two that ask at once: one is told of the other. */
  open(effect: WireEffect, lease: Lease): Promise<LogWrite>;
  /**
   * Takes the lease of a row that was read, for a call.
   * Condition: the row is as it was read. Two that steal at once: one wins; a heartbeat, an answer or a resolution
   * that came meanwhile is not overwritten.
   */
  take(effect: WireEffect, claim: Claim, row: EffectRow, lease: Lease): Promise<LogWrite>;
  /** As {@link take}, to ask the provider first: request and key stay those of the call asked about. */
  takeForLookup(effect: WireEffect, row: EffectRow, lease: Lease): Promise<LogWrite>;
  /** Puts another request and key into a row that one holds. Condition: the lease is still the owner's. */
  renew(effect: WireEffect, claim: Claim, lease: Lease): Promise<LogWrite>;
  /** Extends the lease. Condition: it is still the owner's; a row that was stolen stays stolen. */
  extend(effect: WireEffect, owner: string, until: number): Promise<LogWrite>;
  /**
   * Records the provider's answer.
   *
   * Condition, for an effect: not COMPLETED. Who holds the real answer may put it over a lease that was stolen, a
   * failure or a doubt; a first answer is never overwritten by a second.
   * Condition, for a cached answer: the lease is still the owner's, so that a late answer to an older question does
   * not take the place of a newer one that is being computed.
   */
  complete(effect: WireEffect, claim: Claim, owner: string, answer: RecordedAnswer): Promise<LogWrite>;
  /** Records a failure. Condition: the lease is still the owner's; a late failure overwrites nothing. */
  fail(effect: WireEffect, owner: string, failure: RecordedFailure): Promise<LogWrite>;
  /**
   * Marks the effect as in doubt. Condition: the lease is still the owner's, or, with `row`, the row is as it was
   * read: of two that find a dead claim one marks it, and an answer that came meanwhile stays.
   */
  doubt(
    effect: WireEffect,
    by: { readonly owner: string } | { readonly row: EffectRow },
    doubt: Doubt,
  ): Promise<LogWrite>;
  /** Keeps a result that came too late, for whoever resolves the effect. Condition: there is a row. */
  keepLate(effect: WireEffect, late: LateResult): Promise<void>;
}
