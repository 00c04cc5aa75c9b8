import type { VersionGuard } from './decision.ts';
import type { Ordering } from './message-type.ts';

/** Attribute of an aggregate that holds the last applied version of an ordering stream. */
export const versionAttribute = (stream: string): string => `version#${stream}`;
/** Attribute that holds the idempotency key which brought that version. */
export const lastKeyAttribute = (stream: string): string => `lastKey#${stream}`;

/** How many stream versions Plan reads ahead for skip markers. */
export interface OrderFacts {
  readonly ordering: Ordering;
  readonly stream: string;
  readonly idempotencyKey: string;
  /** The version this message brings: `aggregateVersion`, or the arrival number. Undefined for `none`. */
  readonly incoming: number | undefined;
  /** The aggregate's stored version of the stream, 0 when there is none. */
  readonly stored: number;
  /** The key that brought it. */
  readonly lastKey: string | undefined;
  /** Versions whose skip markers were found. */
  readonly skipped: readonly number[];
}

export type OrderVerdict =
  | { readonly verdict: 'apply'; readonly guard: VersionGuard | undefined }
  /** An older fact than what is applied: a recorded no-op. */
  | { readonly verdict: 'superseded' }
  /** `missing` is the version that has to come first. */
  | { readonly verdict: 'wait'; readonly missing: number }
  /** The current version came under another key: a producer's fault. */
  | { readonly verdict: 'conflict' };

/**
 * Judges whether it is a message's turn.
 *
 * - `none`: always, guarded by the revision alone
 * - `latest`: when it is newer than what is applied
 * - `sequential`, `arrival`: when it is the next one, where skipped versions count as applied
 */
export function judgeOrder(facts: OrderFacts): OrderVerdict {
  const { ordering, stream, incoming, stored } = facts;
  if (ordering === 'none' || incoming === undefined) return { verdict: 'apply', guard: undefined };
  const current = appliedVersion(stored, facts.skipped);
  const guard: VersionGuard = { ordering, stream, incoming, current };
  if (ordering === 'latest') {
    return incoming > stored ? { verdict: 'apply', guard } : { verdict: 'superseded' };
  }
  if (incoming === stored && facts.lastKey !== undefined && facts.lastKey !== facts.idempotencyKey) {
    return { verdict: 'conflict' };
  }
  if (incoming <= current) return { verdict: 'superseded' };
  return incoming === current + 1 ? { verdict: 'apply', guard } : { verdict: 'wait', missing: current + 1 };
}

/** The stored version, moved over the consecutive skip markers behind it. */
export function appliedVersion(stored: number, skipped: readonly number[]): number {
  const markers = new Set(skipped);
  let current = stored;
  while (markers.has(current + 1)) current += 1;
  return current;
}
