import type { Envelope } from './envelope.ts';
import type { TypeManifest } from './manifest.ts';
import { sealIdentity } from './seal.ts';
import { aggregateIndexKey, inboxKey } from './table.ts';

export const INBOX_STATUSES = [
  'RECEIVED',
  'PROCESSING',
  'COMPLETED',
  'FAILED_RETRYABLE',
  'FAILED_TERMINAL',
] as const;
export type InboxStatus = (typeof INBOX_STATUSES)[number];

/** What the starter needs to know of a row that was there already. */
export interface KnownWork {
  readonly status: InboxStatus;
  readonly requestHash: string;
  readonly executionName: string;
  readonly arrival?: number;
}

export interface NewWork {
  readonly envelope: Envelope;
  readonly type: TypeManifest;
  readonly worker: string;
  readonly requestHash: string;
  readonly executionName: string;
  /** ISO 8601 */
  readonly receivedAt: string;
}

/**
 * The inbox row of work seen for the first time. An arrival number, where there is one, orders it on its aggregate.
 * Of a type whose data is a reference the row holds digests, save in its index key: what the state machine writes
 * is returned to it, and stays in its history.
 */
export function newInboxRow(work: NewWork, arrival?: number) {
  const { type } = work;
  const { aggregateType, aggregateId } = work.envelope;
  const envelope = type.data === 'reference' ? sealIdentity(work.envelope) : work.envelope;
  const version = type.ordering === 'arrival' ? arrival : envelope.aggregateVersion;
  return {
    ...inboxKey(envelope.idempotencyKey, work.worker),
    status: 'RECEIVED' satisfies InboxStatus,
    requestHash: work.requestHash,
    messageType: envelope.messageType,
    aggregateType: envelope.aggregateType,
    aggregateId: envelope.aggregateId,
    aggregateVersion: envelope.aggregateVersion,
    arrival,
    tenantId: envelope.tenantId,
    correlationId: envelope.correlationId,
    executionName: work.executionName,
    receiveCount: 1,
    attempts: 0,
    firstSeenAt: work.receivedAt,
    lastSeenAt: work.receivedAt,
    ...aggregateIndexKey(aggregateType, aggregateId, type.stream, version),
  };
}

/** What a delivery is, once the inbox has been asked. */
export type DeliveryKind =
  /** Never seen: start it. */
  | 'new'
  /** Known and not finished: count it and start again, which is harmless while it runs. */
  | 'inProgress'
  | 'duplicateCompleted'
  | 'duplicateTerminal'
  /** The key belongs to another request. */
  | 'conflict';

export function classifyDelivery(known: KnownWork | undefined, hash: string): DeliveryKind {
  if (known === undefined) return 'new';
  if (known.requestHash !== hash) return 'conflict';
  switch (known.status) {
    case 'COMPLETED':
      return 'duplicateCompleted';
    case 'FAILED_TERMINAL':
      return 'duplicateTerminal';
    default:
      return 'inProgress';
  }
}
