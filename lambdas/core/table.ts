/**
 * Where each item of the worker's table lives. One on-demand table, string keys PK and SK, TTL on `ttl`.
 */
export const TABLE = {
  partitionKey: 'PK',
  sortKey: 'SK',
  ttlAttribute: 'ttl',
} as const;

/**
 * `byAttention` is sparse: only rows that need a person carry its key.
 * `byAggregate` finds the inbox rows of one aggregate; it projects keys only.
 */
export const INDEXES = {
  byAttention: { name: 'byAttention', partitionKey: 'attention', sortKey: 'attentionAt' },
  byAggregate: { name: 'byAggregate', partitionKey: 'aggregate', sortKey: 'aggregateOrder' },
} as const;

/** Prefixes that only the worker writes. A plan that names one is `PLAN_INVALID`. */
export const RESERVED_TYPES = ['IDEMP', 'EFFECT', 'OUTBOX', 'QUARANTINE', 'COUNTER'] as const;

/** Attributes that put an item into an index: on a row of a plan they would raise alarms and mislead the ordering. */
export const INDEX_ATTRIBUTES = ['attention', 'attentionAt', 'aggregate', 'aggregateOrder'] as const;

/** Attributes of an aggregate that only the worker writes, beside every `version#…` and `lastKey#…`. */
const AGGREGATE_ATTRIBUTES = ['PK', 'SK', 'revision', 'ttl', ...INDEX_ATTRIBUTES] as const;

/** Whether an aggregate's attribute is the worker's own: a handler neither sees nor sets it. */
export const isWorkersAttribute = (name: string): boolean =>
  AGGREGATE_ATTRIBUTES.some((own) => own === name) || /^(version|lastKey)#/.test(name);

/** Sort key of every aggregate. */
export const AGGREGATE_SORT_KEY = 'META';

export interface ItemKey {
  readonly PK: string;
  readonly SK: string;
}

export const inboxKey = (idempotencyKey: string, worker: string): ItemKey => ({
  PK: `IDEMP#${idempotencyKey}`,
  SK: `WORKER#${worker}`,
});

export const conflictKey = (idempotencyKey: string, requestHash: string): ItemKey => ({
  PK: `IDEMP#${idempotencyKey}`,
  SK: `CONFLICT#${requestHash}`,
});

export const aggregateKey = (aggregateType: string, aggregateId: string): ItemKey => ({
  PK: `${aggregateType.toUpperCase()}#${aggregateId}`,
  SK: AGGREGATE_SORT_KEY,
});

export const effectRowKey = (effectKey: string): ItemKey => ({ PK: `EFFECT#${effectKey}`, SK: 'LOG' });

export const outboxKey = (eventId: string): ItemKey => ({ PK: `OUTBOX#${eventId}`, SK: 'EVENT' });

/** A version as the sort keys carry it: 16 digits, so that text order is number order up to 2^53 - 1. */
export const versionKey = (version: number): string => String(version).padStart(16, '0');

export const waiterKey = (
  aggregate: ItemKey,
  stream: string,
  version: number,
  executionName: string,
): ItemKey => ({ PK: aggregate.PK, SK: `WAITER#${stream}#${versionKey(version)}#${executionName}` });

export const skipKey = (aggregate: ItemKey, stream: string, version: number): ItemKey => ({
  PK: aggregate.PK,
  SK: `SKIP#${stream}#${versionKey(version)}`,
});

/** Days in keys are spread over 16 shards, so that a bad day makes no hot partition. */
export const ATTENTION_SHARDS = '0123456789abcdef';

/** What makes a row need a person; the first part of the attention index key. */
export const ATTENTION = ['FAILED_TERMINAL', 'IN_DOUBT', 'CONFLICT', 'QUARANTINED'] as const;
export type Attention = (typeof ATTENTION)[number];

/**
 * In the place of an {@link Attention}: a parked execution's waiter. It needs nobody but the reconciler, should the
 * waker have missed it.
 */
export const PARKED = 'PARKED';

/**
 * Key of the attention index.
 * @param at ISO 8601 instant in UTC; its day is the key's
 * @param digest any hexadecimal digest of the row's identity; its first digit is the shard
 */
export const attentionKey = (attention: Attention, at: string, digest: string): string =>
  `${attention}#${at.slice(0, 10)}#${digest.slice(0, 1)}`;

/** Key under which the inbox rows of one aggregate are listed, in version order per ordering stream. */
export const aggregateIndexKey = (
  aggregateType: string,
  aggregateId: string,
  stream: string,
  version: number | undefined,
): { readonly aggregate: string; readonly aggregateOrder: string } => ({
  aggregate: aggregateKey(aggregateType, aggregateId).PK,
  aggregateOrder: `${stream}#${version === undefined ? '-' : versionKey(version)}`,
});
