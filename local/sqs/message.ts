import { createHash } from 'node:crypto';

/** A message attribute, as the API's JSON carries it: binary values in base64. */
export interface MessageAttribute {
  readonly DataType: string;
  readonly StringValue?: string;
  readonly BinaryValue?: string;
}

export type MessageAttributes = Readonly<Record<string, MessageAttribute>>;

/** What a producer gives. */
export interface NewMessage {
  readonly body: string;
  readonly attributes: MessageAttributes;
  /** System attributes that a producer may set: only AWSTraceHeader. */
  readonly systemAttributes: MessageAttributes;
  readonly groupId?: string;
  readonly deduplicationId?: string;
  readonly delaySeconds?: number;
}

/** A stored message. Times are epoch milliseconds. */
export interface StoredMessage {
  readonly id: string;
  readonly body: string;
  readonly attributes: MessageAttributes;
  readonly systemAttributes: MessageAttributes;
  readonly groupId?: string;
  readonly deduplicationId?: string;
  /** FIFO queues only. */
  readonly sequenceNumber?: string;
  readonly sentAt: number;
  /** The dead-letter source, once the message was moved. */
  readonly sourceArn?: string;
  receiveCount: number;
  firstReceivedAt?: number;
  /** Hidden until then: a delay before the first receive, the visibility timeout after one. */
  visibleAt: number;
  /** The start of the present receive, if one holds the message. */
  receivedAt?: number;
  /** The newest receive's handle. */
  receipt?: string;
}

export function md5(data: string | Uint8Array): string {
  return createHash('md5').update(data).digest('hex');
}

/** SQS's digest of attributes: name, type and value, each with its length, in order of name. */
export function md5OfAttributes(attributes: MessageAttributes): string | undefined {
  const names = Object.keys(attributes).sort();
  if (names.length === 0) return undefined;
  const hash = createHash('md5');
  const update = (bytes: Uint8Array) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.byteLength);
    hash.update(length).update(bytes);
  };
  for (const name of names) {
    const attribute = attributes[name];
    if (attribute === undefined) continue;
    update(Buffer.from(name));
    update(Buffer.from(attribute.DataType));
    const binary = attribute.DataType.startsWith('Binary');
    hash.update(Uint8Array.of(binary ? 2 : 1));
    update(
      binary ? Buffer.from(attribute.BinaryValue ?? '', 'base64') : Buffer.from(attribute.StringValue ?? ''),
    );
  }
  return hash.digest('hex');
}

/** The size that counts against the limit: body and attributes with their names and types, in bytes. */
export function messageBytes({ body, attributes }: Pick<NewMessage, 'body' | 'attributes'>): number {
  let bytes = Buffer.byteLength(body);
  for (const [name, { DataType, StringValue, BinaryValue }] of Object.entries(attributes)) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(DataType);
    bytes +=
      BinaryValue === undefined
        ? Buffer.byteLength(StringValue ?? '')
        : Buffer.byteLength(BinaryValue, 'base64');
  }
  return bytes;
}

/** The digest that content-based deduplication uses in place of an id. */
export function contentDeduplicationId(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}
