import { sha256 } from '../core/identity.ts';
import type { JsonObject } from '../core/json.ts';
import type { Source } from '../core/sources.ts';
import { asObject, objectOf, textIn } from './json-body.ts';

/** An object's event, as an S3 notification tells it. */
export interface ObjectEvent {
  /** E.g. `ObjectCreated:Put` */
  readonly eventName: string;
  /** ISO 8601 */
  readonly eventTime: string;
  readonly bucket: string;
  /** Decoded. */
  readonly key: string;
  /** Absent when the bucket is not versioned. */
  readonly versionId?: string;
  /** Orders the events of one key: the longer, else the greater, is the later. */
  readonly sequencer: string;
}

/** Which notifications a source takes, and what it makes of them. */
export interface S3NotificationSourceOptions {
  /** The message type that an object's event becomes. */
  readonly messageType: string;
  /** Version of the payload's schema. @default 1 */
  readonly schemaVersion?: number;
  /** The envelope's aggregate type. @default 'DOCUMENT' */
  readonly aggregateType?: string;
  /** The bucket to take events of. @default every bucket that may send to the queue */
  readonly bucket?: string;
  /** Event names to take, by their beginning. @default ['ObjectCreated:'] */
  readonly eventNames?: readonly string[];
  /** Further fields of the envelope, or other ones. */
  readonly toEnvelope?: (event: ObjectEvent) => Readonly<Record<string, unknown>>;
}

/**
 * S3 event notifications. A notification does not hold the object's SHA-256, so that the object cannot be a
 * `payloadRef`: the payload names bucket, key, version and sequencer, and says no more of the content.
 *
 * The idempotency key is the event's own identity (bucket, key, version or sequencer), so that a notification which
 * S3 sends twice is one piece of work and an overwritten object is another.
 */
export function s3NotificationSource(options: S3NotificationSourceOptions): Source {
  const { bucket, eventNames = ['ObjectCreated:'] } = options;
  return {
    name: 's3-notification',
    toEnvelope({ body }) {
      const records = objectOf(body)?.Records;
      if (!Array.isArray(records)) return undefined;
      const [first, ...others] = records.map(asObject);
      if (first?.eventSource !== 'aws:s3') return undefined;
      const event = eventOf(first);
      if (bucket !== undefined && event.bucket !== bucket) return undefined;
      if (!eventNames.some((name) => event.eventName.startsWith(name))) return undefined;
      if (others.length > 0) throw new RangeError('a notification must hold one record');
      return { ...envelopeOf(event, options), ...options.toEnvelope?.(event) };
    },
  };
}

function eventOf(record: JsonObject): ObjectEvent {
  const s3 = asObject(record.s3) ?? {};
  const object = asObject(s3.object) ?? {};
  return {
    eventName: textIn(record, 'eventName'),
    eventTime: textIn(record, 'eventTime'),
    bucket: textIn(asObject(s3.bucket) ?? {}, 'name'),
    key: decodeURIComponent(textIn(object, 'key').replaceAll('+', ' ')),
    ...(typeof object.versionId === 'string' ? { versionId: object.versionId } : {}),
    sequencer: textIn(object, 'sequencer'),
  };
}

function envelopeOf(event: ObjectEvent, options: S3NotificationSourceOptions) {
  const { bucket, key, versionId, sequencer } = event;
  const id = sha256(JSON.stringify([bucket, key, versionId ?? sequencer, event.eventName.split(':', 1)]));
  return {
    messageId: id,
    schemaVersion: options.schemaVersion ?? 1,
    messageType: options.messageType,
    producer: 's3',
    occurredAt: event.eventTime,
    idempotencyKey: `s3:${id}`,
    aggregateType: options.aggregateType ?? 'DOCUMENT',
    aggregateId: sha256(JSON.stringify([bucket, key])),
    payload: { bucket, key, sequencer, ...(versionId === undefined ? {} : { versionId }) },
  };
}
