/** Message attribute in which the ingress names the webhook that a raw body came by. */
export const WEBHOOK_ATTRIBUTE = 'webhook';
/** Message attribute in which the ingress says when it took the request, in epoch milliseconds. */
export const RECEIVED_AT_ATTRIBUTE = 'receivedAt';
/** Prefix of the message attributes that carry request headers, names in lower case. */
export const HEADER_PREFIX = 'header.';

/** A record as it came from the queue, of which a source may build an envelope. */
export interface SourceRecord {
  readonly messageId: string;
  readonly body: string;
  /** String message attributes. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Epoch milliseconds at which it came into the queue. */
  readonly sentAt: number;
}

/**
 * Turns a foreign body into an envelope. Pure and without a promise; what it returns is validated like any envelope.
 */
export interface Source {
  /** Stands in the reason of a body that it refuses. */
  readonly name: string;
  /**
   * The webhook that this source takes. Such a source sees that webhook's records and nothing else, and no other
   * source sees them: whoever can reach a webhook must not pass as anybody else. @default none
   */
  readonly webhook?: string;
  /** @returns undefined when the body is not of this source. @throws when it is, and cannot be used */
  toEnvelope(record: SourceRecord): unknown | undefined;
}

/** The sources that may look at a record. */
export const sourcesFor = (record: SourceRecord, sources: readonly Source[]): readonly Source[] =>
  sources.filter(({ webhook }) => webhook === record.attributes[WEBHOOK_ATTRIBUTE]);
