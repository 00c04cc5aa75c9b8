import type { DomainChange } from './domain-table.ts';
import type { PayloadRef } from './envelope.ts';
import type { FailureRecord, Progress } from './execution.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { Ordering } from './message-type.ts';

/** Version of the plan format. Commit accepts its own and the previous one, so that a deploy may fall between. */
export const PLAN_VERSION = 1;

/**
 * What Plan may decide. Commit carries `Commit` out and throws an error with the name of every other one, which the
 * state machine routes.
 */
export const DECISIONS = [
  'Commit',
  'EffectsRequired',
  'OutOfOrder',
  'NotBefore',
  'AlreadyCompleted',
  'HashMismatch',
  'Exhausted',
  'RetryableFailure',
  'TerminalFailure',
  'UnknownFailure',
] as const;
export type DecisionName = (typeof DECISIONS)[number];

/** Which work this is: everything that the rows of a commit name, and no payload. */
export interface WorkIdentity {
  readonly idempotencyKey: string;
  readonly requestHash: string;
  readonly messageType: string;
  readonly schemaVersion: number;
  readonly aggregateType: string;
  readonly aggregateId: string;
  readonly aggregateVersion?: number;
  readonly correlationId?: string;
  readonly tenantId?: string;
  readonly traceparent?: string;
}

/** The ordering rule that the commit is guarded by, beside the revision. */
export interface VersionGuard {
  readonly ordering: Ordering;
  readonly stream: string;
  /** The version this message brings. */
  readonly incoming: number;
  /** The version from which `incoming` may follow: skip markers in between are applied. */
  readonly current: number;
}

/** A guarded change of the aggregate. */
export interface AggregateChange {
  readonly key: { readonly PK: string; readonly SK: string };
  /** The revision that Plan read; null when there was none. */
  readonly revision: number | null;
  readonly version?: VersionGuard;
  readonly set: JsonObject;
  readonly remove: readonly string[];
  /** The aggregate lives in a table of its own: its attributes change there, and only the versions here. */
  readonly domain?: DomainChange;
  /**
   * Where the stream's waiters and skip markers lie, when that is not beside the aggregate: a sealed type names the
   * aggregate by its digest, so that no history shows its key. The version is written there too, for the waker reads
   * no other place.
   */
  readonly waiting?: { readonly PK: string; readonly SK: string };
}

/** A write beside the aggregate, in wire form. */
export interface WireWrite {
  readonly key: { readonly PK: string; readonly SK: string };
  readonly put?: JsonObject;
  readonly set?: JsonObject;
  readonly remove?: readonly string[];
  readonly delete?: true;
  readonly guard?: { readonly exists: boolean } | { readonly attribute: string; readonly equals: JsonValue };
}

/** An item that must still be as Plan read it. */
export interface WireCheck {
  readonly key: { readonly PK: string; readonly SK: string };
  /** Attributes that must still be equal; null when there was no item. */
  readonly expect: JsonObject | null;
}

/** An event for the outbox. */
export interface WireEvent {
  readonly eventId: string;
  /** The envelope to publish, as text: pipes cannot turn DynamoDB maps into plain JSON. */
  readonly envelope: string;
}

/** An effect to run, as RunEffect receives it. */
export interface WireEffect {
  readonly key: string;
  readonly name: string;
  readonly provider: string;
  readonly operation: string;
  readonly request: JsonValue;
  /** Where the request lies when it is kept out of histories: `request` is then null. */
  readonly requestRef?: PayloadRef;
  readonly requestHash: string;
  readonly cache?: { readonly ttlSeconds: number; readonly version: number };
  readonly onRequestChange: 'fail' | 'keep';
  /** The effect's own back-off, beside the message's. */
  readonly retry?: { readonly baseSeconds?: number; readonly capSeconds?: number };
  /** Business attempts spent before this one: a failure of the effect stands for the rest of the attempt. @default 0 */
  readonly attempt?: number;
  /** Redrives of the execution: each one is a fresh budget of calls. @default 0 */
  readonly redrives?: number;
  readonly correlationId?: string;
  readonly traceparent?: string;
  readonly idempotencyKey: string;
}

interface DecisionBase {
  readonly planVersion: number;
  readonly identity: WorkIdentity;
  readonly progress: Progress;
  /** When this decision was made (ISO 8601): every time that the commit writes comes from here. */
  readonly plannedAt: string;
}

export interface CommitDecision extends DecisionBase {
  readonly decision: 'Commit';
  readonly outcome: 'APPLIED' | 'SUPERSEDED';
  /** Absent when the message is superseded: then only the inbox row is written. */
  readonly aggregate?: AggregateChange;
  readonly writes: readonly WireWrite[];
  readonly checks: readonly WireCheck[];
  readonly events: readonly WireEvent[];
  readonly resultRef?: string;
  /** Providers whose answers this message found in the cache without asking for them, one entry a use. */
  readonly cacheHits?: readonly string[];
  /** Where the whole decision lies when it is kept out of histories. */
  readonly aside?: PayloadRef;
}

export interface EffectsDecision extends DecisionBase {
  readonly decision: 'EffectsRequired';
  readonly effects: readonly WireEffect[];
  readonly parallel: boolean;
}

export interface ParkDecision extends DecisionBase {
  readonly decision: 'OutOfOrder';
  readonly park: {
    readonly key: { readonly PK: string; readonly SK: string };
    readonly stream: string;
    readonly version: number;
    readonly timeoutSeconds: number;
    /** Seconds since the epoch at which the waiter row may be removed. */
    readonly ttl: number;
  };
}

export interface DeferDecision extends DecisionBase {
  readonly decision: 'NotBefore';
  readonly notBefore: string;
}

export interface FailureDecision extends DecisionBase {
  readonly decision: 'RetryableFailure' | 'TerminalFailure' | 'UnknownFailure' | 'HashMismatch' | 'Exhausted';
  readonly failure: FailureRecord;
}

export interface CompletedDecision extends DecisionBase {
  readonly decision: 'AlreadyCompleted';
}

/** Plan's output, Commit's input, and what an operator reads in the console. */
export type Decision =
  | CommitDecision
  | EffectsDecision
  | ParkDecision
  | DeferDecision
  | FailureDecision
  | CompletedDecision;

/** What a commit leaves in the execution's output. */
export interface CommitResult {
  readonly status: 'COMPLETED';
  readonly outcome: 'APPLIED' | 'SUPERSEDED';
  readonly idempotencyKey: string;
  readonly resultRef?: string;
}
