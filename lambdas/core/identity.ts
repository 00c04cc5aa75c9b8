import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Envelope } from './envelope.ts';

declare const brand: unique symbol;
/** A name of an execution. Not an idempotency key: it is derived from one, for Step Functions. */
export type ExecutionName = string & { readonly [brand]: 'ExecutionName' };
/** Lower-case hexadecimal SHA-256 of a message's canonical identity. */
export type RequestHash = string & { readonly [brand]: 'RequestHash' };

/** Step Functions' limit. */
const EXECUTION_NAME_MAX = 80;
const HASH_DIGITS = 32;
const SLUG_MAX = 44;

export const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');

/** RFC 8785 canonical JSON. Throws a TypeError for what JSON cannot carry. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('Only what JSON can carry has a canonical form');
  return text;
}

/**
 * What makes two sendings the same work: type, schema version, aggregate, version and payload, as sent, before any
 * default or transform. Not the message id, the time, causation, correlation, trace or policy, so that a producer
 * that sends the same work again is a duplicate and no conflict. Of a payload reference only its digest counts.
 */
export function requestHash(envelope: Envelope): RequestHash {
  const { messageType, schemaVersion, aggregateType, aggregateId, aggregateVersion } = envelope;
  const content =
    envelope.payloadRef === undefined
      ? { payload: envelope.payload }
      : { payloadRef: { sha256: envelope.payloadRef.sha256 } };
  const hash = sha256(
    canonicalJson({
      messageType,
      schemaVersion,
      aggregateType: aggregateType.toUpperCase(),
      aggregateId,
      ...(aggregateVersion === undefined ? {} : { aggregateVersion }),
      ...content,
    }),
  );
  return hash as RequestHash;
}

export interface ExecutionNameOptions {
  /** Replay generation: 0 for the first execution of a key. @default 0 */
  readonly replay?: number;
  /** `digest` leaves the readable part out, for keys that hold personal data. @default 'readable' */
  readonly style?: 'readable' | 'digest';
}

/**
 * `<slug>-<32 hex digits>[-r<n>]`: at most 80 characters of `[A-Za-z0-9_-]`, since other legal characters break
 * CloudWatch logging. The slug gives way to the replay suffix, the hash never.
 */
export function executionName(idempotencyKey: string, options: ExecutionNameOptions = {}): ExecutionName {
  const { replay = 0, style = 'readable' } = options;
  const hash = sha256(idempotencyKey).slice(0, HASH_DIGITS);
  const suffix = replay === 0 ? hash : `${hash}-r${replay}`;
  const room = Math.min(SLUG_MAX, EXECUTION_NAME_MAX - suffix.length - 1);
  const slug = style === 'digest' ? 'key' : idempotencyKey.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, room);
  return `${slug}-${suffix}` as ExecutionName;
}

/** Longest idempotency key that an envelope takes, in characters. */
const IDEMPOTENCY_KEY_MAX = 200;

/**
 * The idempotency key of what follows from a message, e.g. of its plan's event: `<key>:<suffix>`, or, where that
 * would be too long, the key's SHA-256 in its place.
 */
export function derivedKey(idempotencyKey: string, suffix: string): string {
  const readable = `${idempotencyKey}:${suffix}`;
  return [...readable].length <= IDEMPOTENCY_KEY_MAX ? readable : `${sha256(idempotencyKey)}:${suffix}`;
}

/** ARN of a state machine's execution of that name. */
export const executionArn = (stateMachineArn: string, name: string): string =>
  `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`;
