import type { Manifest } from './manifest.ts';
import { versionAttribute } from './ordering.ts';

/** What may wake somebody without a commit: a new waiter, a skip marker. */
const WAITING = {
  eventName: ['INSERT', 'MODIFY'],
  dynamodb: { Keys: { SK: { S: [{ prefix: 'WAITER#' }, { prefix: 'SKIP#' }] } } },
};

/** A change of an aggregate. */
const COMMIT = { eventName: ['INSERT', 'MODIFY'], dynamodb: { Keys: { SK: { S: ['META'] } } } };

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

/** Lambda takes five patterns for an event source. */
const MOST_PATTERNS = 5;

/** What decides which changes matter. */
export interface StreamSettings {
  readonly manifest: Manifest;
  readonly inFlightLimit: boolean;
}

/**
 * Patterns, in the terms of Lambda's event filtering, of the changes that the stream consumer is invoked with. The
 * deployed event source and the local one use the same. Of commits it hears those on aggregates with a version in which
 * messages wait their turn; with more such streams than there may be patterns, those on every aggregate.
 */
export function streamFilters({ manifest, inFlightLimit }: StreamSettings) {
  const others = [WAITING, ...(inFlightLimit ? COUNTING : [])];
  const streams = Object.values(manifest.types).flatMap(({ ordering, stream }) =>
    ordering === 'sequential' || ordering === 'arrival' ? [stream] : [],
  );
  const commits = [...new Set(streams)].map((stream) => ({
    ...COMMIT,
    dynamodb: { ...COMMIT.dynamodb, NewImage: { [versionAttribute(stream)]: { N: [{ exists: true }] } } },
  }));
  return [...others, ...(others.length + commits.length > MOST_PATTERNS ? [COMMIT] : commits)];
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
