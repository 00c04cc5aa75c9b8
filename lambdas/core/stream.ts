import type { Manifest } from './manifest.ts';

/** What may wake somebody: a new waiter, and where messages wait their turn, what moves the turn on. */
const WAITER = {
  eventName: ['INSERT', 'MODIFY'],
  dynamodb: { Keys: { SK: { S: [{ prefix: 'WAITER#' }] } } },
};
const TURN = [
  { eventName: ['INSERT', 'MODIFY'], dynamodb: { Keys: { SK: { S: ['META'] } } } },
  { eventName: ['INSERT', 'MODIFY'], dynamodb: { Keys: { SK: { S: [{ prefix: 'SKIP#' }] } } } },
];

/** What the in-flight limit needs besides: what becomes of inbox rows, and the end of a wait. */
const COUNTING = [
  {
    eventName: ['MODIFY', 'INSERT'],
    dynamodb: {
      Keys: { PK: { S: [{ prefix: 'IDEMP#' }] }, SK: { S: [{ prefix: 'WORKER#' }] } },
      NewImage: { status: { S: ['COMPLETED', 'FAILED_TERMINAL', 'FAILED_RETRYABLE', 'PROCESSING'] } },
    },
  },
  { eventName: ['REMOVE'], dynamodb: { Keys: { SK: { S: [{ prefix: 'WAITER#' }] } } } },
];

/** What decides which changes matter. */
export interface StreamSettings {
  readonly manifest: Manifest;
  readonly inFlightLimit: boolean;
}

/**
 * Patterns, in the terms of Lambda's event filtering, of the changes that the stream consumer is invoked with. The
 * deployed event source and the local one use the same. A worker none of whose types waits its turn hears of no commit
 * without an in-flight limit, and is not invoked.
 */
export function streamFilters({ manifest, inFlightLimit }: StreamSettings) {
  const waits = Object.values(manifest.types).some(
    ({ ordering }) => ordering === 'sequential' || ordering === 'arrival',
  );
  return [WAITER, ...(waits ? TURN : []), ...(inFlightLimit ? COUNTING : [])];
}

/** One ordering stream of one aggregate, in which somebody's turn may have come. */
export interface StreamPlace {
  /** Partition key of the aggregate. */
  readonly aggregate: string;
  readonly stream: string;
}

/** A change of the table, with native values. */
export interface TableChange {
  readonly PK: string;
  readonly SK: string;
  readonly newImage: Readonly<Record<string, unknown>> | undefined;
  readonly oldImage: Readonly<Record<string, unknown>> | undefined;
}

/** The ordering streams that a change concerns: those whose version moved, or that got a waiter or a skip marker. */
export function concernedStreams(change: TableChange): readonly StreamPlace[] {
  const { PK, SK, newImage = {}, oldImage = {} } = change;
  if (PK.startsWith('EFFECT#')) return [];
  const [kind, stream] = SK.split('#');
  if ((kind === 'WAITER' || kind === 'SKIP') && stream !== undefined) return [{ aggregate: PK, stream }];
  if (SK !== 'META') return [];
  return Object.keys(newImage)
    .filter((name) => name.startsWith('version#') && newImage[name] !== oldImage[name])
    .map((name) => ({ aggregate: PK, stream: name.slice('version#'.length) }));
}
