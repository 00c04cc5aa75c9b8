import { describeIssues, validateEnvelope } from './envelope.ts';
import { sha256 } from './identity.ts';
import { outboxKey } from './table.ts';
import { ttlAfter } from './transaction.ts';

const DAY_SECONDS = 24 * 60 * 60;
const DEFAULT_TTL_SECONDS = 7 * DAY_SECONDS;

/** Where an outbox row is put, and for how long. */
export interface OutboxItemOptions {
  /** A table with keys PK and SK, TTL on `ttl`, and an outbox pipe on its stream. */
  readonly tableName: string;
  /** When the row is written: its time to live counts from here. */
  readonly now: Date;
  /** Seconds that the row is kept; the pipe needs it no longer than the stream lasts, which is a day. @default 604800 */
  readonly ttlSeconds?: number;
}

/** An action for `TransactWriteItems`, in DynamoDB's own form. */
export interface OutboxItem {
  readonly Put: {
    readonly TableName: string;
    readonly Item: {
      readonly PK: { readonly S: string };
      readonly SK: { readonly S: string };
      readonly envelope: { readonly S: string };
      readonly createdAt: { readonly S: string };
      readonly ttl: { readonly N: string };
    };
  };
}

/**
 * The producer's side of the outbox: put it into the transaction that writes the domain change, and the message is
 * published if and only if the change is written. Published at least once; the worker behind the queue drops what
 * it knows. The row is named after the producer and its messageId, so that a transaction which is repeated after
 * a lost answer publishes one row.
 *
 * @throws TypeError naming what is wrong with the envelope, by path and rule
 */
export function outboxItem(envelope: unknown, options: OutboxItemOptions): OutboxItem {
  const result = validateEnvelope(envelope);
  if (!result.ok) throw new TypeError(`The envelope cannot be published: ${describeIssues(result.issues)}`);
  const { producer, messageId } = result.envelope;
  const { PK, SK } = outboxKey(sha256(JSON.stringify([producer, messageId])));
  const createdAt = options.now.toISOString();
  return {
    Put: {
      TableName: options.tableName,
      Item: {
        PK: { S: PK },
        SK: { S: SK },
        envelope: { S: JSON.stringify(result.envelope) },
        createdAt: { S: createdAt },
        ttl: { N: String(ttlAfter(createdAt, options.ttlSeconds ?? DEFAULT_TTL_SECONDS)) },
      },
    },
  };
}
