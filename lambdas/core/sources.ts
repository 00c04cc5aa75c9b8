/** A record as it came from the queue, of which a source may build an envelope. */
export interface SourceRecord {
  readonly messageId: string;
  readonly body: string;
  /** String message attributes. */
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * Turns a foreign body into an envelope. Pure: what it returns is validated like any other.
 * `undefined` means that the body is not of this source; a thrown error, that it is and cannot be used.
 */
export interface Source {
  readonly name: string;
  toEnvelope(record: SourceRecord): unknown | undefined;
}
