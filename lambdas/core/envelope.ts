import * as v from 'valibot';
import { FAILURE_CODES } from './errors.ts';
import type { JsonObject } from './json.ts';
import { parseStrictJson } from './strict-json.ts';
import { RESERVED_TYPES } from './table.ts';

/** Where a payload lies when it is not in the envelope. Only its sha256 is part of the work's identity. */
export interface PayloadRef {
  /** The worker's own bucket, or one of its `payloadBuckets`. */
  readonly bucket: string;
  readonly key: string;
  /** Of a bucket that keeps versions. @default the newest */
  readonly versionId?: string;
  /** Lower-case hexadecimal SHA-256 of the object's bytes. */
  readonly sha256: string;
}

/** What a message changes of its type's retry policy. */
export interface AttemptPolicyOverride {
  /** 1–100. @default the type's */
  readonly maxBusinessAttempts?: number;
  /** No attempt before this instant (ISO 8601, UTC). */
  readonly notBefore?: string | null;
  /** No further attempt after this instant (ISO 8601, UTC); the first one is always made. */
  readonly retryableUntil?: string;
  /** Codes after which no further attempt is made, at most 50. @default the type's */
  readonly terminalAfterCodes?: readonly string[];
}

/** A validated, normalised message: instants in UTC, the key in NFC, no field unknown. */
export interface Envelope {
  /** Names this sending, at most 128 characters. It plays no part in telling duplicates. */
  readonly messageId: string;
  /** Version of the payload's schema, from 1. */
  readonly schemaVersion: number;
  /** `[A-Za-z][A-Za-z0-9]{0,99}`: the type of a definition that the worker has. */
  readonly messageType: string;
  /** Who sent it, at most 100 characters. */
  readonly producer: string;
  /** When it happened at the producer (ISO 8601, UTC). */
  readonly occurredAt: string;
  /** Names the work, at most 200 characters: the worker does what one key asks for once. */
  readonly idempotencyKey: string;
  /** `[A-Za-z][A-Za-z0-9_]{0,99}`, in any case. */
  readonly aggregateType: string;
  /** At most 200 characters. */
  readonly aggregateId: string;
  /** Whose work it is, at most 128 characters. */
  readonly tenantId?: string;
  /** Place in the order of the aggregate, from 1: required by the orderings `latest` and `sequential`. */
  readonly aggregateVersion?: number;
  /** The message that led to this one, at most 200 characters. */
  readonly causationId?: string;
  /** What this message belongs to, at most 200 characters. It stands in the log lines. */
  readonly correlationId?: string;
  /** W3C Trace Context. @default that of the message attribute, if there is one */
  readonly traceparent?: string;
  /** @default the type's policy */
  readonly attemptPolicy?: AttemptPolicyOverride;
  /** An envelope has either this or `payloadRef`. */
  readonly payload?: JsonObject;
  readonly payloadRef?: PayloadRef;
}

/** What is wrong with one field. Carries the value's type and never the value: it may be personal data. */
export interface EnvelopeIssue {
  /** JSON path, e.g. `$.attemptPolicy.notBefore`. */
  readonly path: string;
  readonly rule: string;
  /** JSON type of the value that was found. */
  readonly found: string;
}

export type EnvelopeResult =
  | { readonly ok: true; readonly envelope: Envelope }
  | {
      readonly ok: false;
      readonly code: typeof FAILURE_CODES.INVALID_ENVELOPE;
      readonly issues: readonly EnvelopeIssue[];
    };

const INSTANT =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d([.,]\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)$/;
/** A list of a million wrong codes is one message with one reason: it must fit an item and a log line. */
const MAX_ISSUES = 20;
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const NO_CONTROL_CHARACTERS = /^\P{Cc}*$/u;

const text = (max: number) =>
  v.pipe(
    v.string(),
    v.minLength(1, 'must not be empty'),
    v.check((value) => [...value].length <= max, `must be at most ${max} characters`),
    v.regex(NO_CONTROL_CHARACTERS, 'must hold no control characters'),
  );

const instant = v.pipe(
  v.string(),
  v.regex(INSTANT, 'must be an ISO 8601 instant with an offset or Z'),
  v.check((value) => !Number.isNaN(toMillis(value)), 'must be a date that exists'),
  v.transform((value) => new Date(toMillis(value)).toISOString()),
);

const wholeNumber = (min: number, max: number) =>
  v.pipe(
    v.number(),
    v.safeInteger('must be a whole number'),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  );

const traceparent = v.pipe(v.string(), v.regex(TRACEPARENT, 'must be a W3C Trace Context traceparent'));

// Before strictObject, which takes an array for an object.
const object = v.custom<JsonObject>(isJsonObject, 'must be an object');

const payloadRef = v.pipe(
  object,
  v.strictObject({
    bucket: text(255),
    key: text(1024),
    versionId: v.exactOptional(text(1024)),
    sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits')),
  }),
);

const attemptPolicy = v.pipe(
  object,
  v.strictObject({
    maxBusinessAttempts: v.exactOptional(wholeNumber(1, 100)),
    notBefore: v.exactOptional(v.nullable(instant)),
    retryableUntil: v.exactOptional(instant),
    terminalAfterCodes: v.exactOptional(
      v.pipe(v.array(text(100)), v.maxLength(50, 'must name at most 50 codes')),
    ),
  }),
);

const envelopeSchema = v.strictObject({
  messageId: text(128),
  schemaVersion: wholeNumber(1, Number.MAX_SAFE_INTEGER),
  messageType: v.pipe(
    v.string(),
    v.regex(/^[A-Za-z][A-Za-z0-9]{0,99}$/, 'must match [A-Za-z][A-Za-z0-9]{0,99}'),
  ),
  producer: text(100),
  occurredAt: instant,
  idempotencyKey: v.pipe(
    v.string(),
    v.transform((value) => value.normalize('NFC')),
    text(200),
  ),
  aggregateType: v.pipe(
    v.string(),
    v.regex(/^[A-Za-z][A-Za-z0-9_]{0,99}$/, 'must match [A-Za-z][A-Za-z0-9_]{0,99}'),
    v.check(
      (value) => !RESERVED_TYPES.some((reserved) => reserved === value.toUpperCase()),
      `must not be one of ${RESERVED_TYPES.join(', ')} (reserved)`,
    ),
  ),
  aggregateId: text(200),
  tenantId: v.exactOptional(text(128)),
  aggregateVersion: v.exactOptional(wholeNumber(1, Number.MAX_SAFE_INTEGER)),
  causationId: v.exactOptional(text(200)),
  correlationId: v.exactOptional(text(200)),
  traceparent: v.exactOptional(traceparent),
  attemptPolicy: v.exactOptional(attemptPolicy),
  // Not v.record: it leaves out keys such as "constructor", and a payload is kept as it was sent.
  payload: v.exactOptional(object),
  payloadRef: v.exactOptional(payloadRef),
});

export interface EnvelopeContext {
  /** W3C `traceparent` of the message attribute, used when the envelope has none. Ignored when malformed. */
  readonly traceparent?: string | undefined;
}

/**
 * Reads a message body: strict JSON holding an envelope, or a JSON string that holds one (as an outbox pipe sends).
 * Never throws.
 */
export function parseEnvelope(body: string, context: EnvelopeContext = {}): EnvelopeResult {
  const parsed = parseStrictJson(body);
  if (!parsed.ok) return invalid([{ ...parsed.fault, found: 'text' }]);
  if (typeof parsed.value === 'string') {
    const inner = parseStrictJson(parsed.value);
    if (!inner.ok) return invalid([{ ...inner.fault, found: 'string' }]);
    return validateEnvelope(inner.value, context);
  }
  return validateEnvelope(parsed.value, context);
}

/** Validates a value that is already parsed, e.g. what a source built. Never throws. */
export function validateEnvelope(value: unknown, context: EnvelopeContext = {}): EnvelopeResult {
  if (jsonType(value) !== 'object') {
    return invalid([{ path: '$', rule: 'must be an object', found: jsonType(value) }]);
  }
  const result = v.safeParse(envelopeSchema, value);
  if (!result.success) return invalid(result.issues.map(toIssue));
  const { payload, ...fields } = result.output;
  if ((payload === undefined) === (fields.payloadRef === undefined)) {
    const rule = 'must have exactly one of payload and payloadRef';
    return invalid([{ path: '$', rule, found: 'object' }]);
  }
  const trace = fields.traceparent ?? acceptableTrace(context.traceparent);
  return {
    ok: true,
    envelope: {
      ...fields,
      ...(trace === undefined ? {} : { traceparent: trace }),
      ...(payload === undefined ? {} : { payload }),
    },
  };
}

/** One line for logs, attributes and cases: `$.path: rule (found type); …`. */
export const describeIssues = (issues: readonly EnvelopeIssue[]): string =>
  issues.map(({ path, rule, found }) => `${path}: ${rule} (found ${found})`).join('; ');

function acceptableTrace(trace: string | undefined): string | undefined {
  return trace !== undefined && TRACEPARENT.test(trace) ? trace : undefined;
}

/** JSON carries no other objects, and a source that builds one is held to the same by its type. */
function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function toIssue(issue: v.BaseIssue<unknown>): EnvelopeIssue {
  const path = (issue.path ?? []).reduce(
    (text, { key }) => text + (typeof key === 'number' ? `[${key}]` : `.${safeKey(String(key))}`),
    '$',
  );
  return { path, rule: ruleOf(issue), found: jsonType(issue.input) };
}

/** An unknown key is the sender's text too: only a name-like one is repeated. */
const safeKey = (key: string): string => (/^[A-Za-z_]\w{0,49}$/.test(key) ? key : '?');

function ruleOf(issue: v.BaseIssue<unknown>): string {
  switch (issue.type) {
    case 'strict_object':
      return issue.expected === 'never' ? 'is not a field of the envelope' : 'is required';
    case 'string':
      return 'must be a string';
    case 'number':
      return 'must be a number';
    case 'array':
      return 'must be an array';
    default:
      return issue.message;
  }
}

function invalid(issues: readonly EnvelopeIssue[]): EnvelopeResult {
  return { ok: false, code: FAILURE_CODES.INVALID_ENVELOPE, issues: issues.slice(0, MAX_ISSUES) };
}

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** `Date.parse` with the two spellings that ISO 8601 allows and it refuses: a decimal comma, an offset without colon. */
function toMillis(instantText: string): number {
  const normal = instantText.replace(',', '.').replace(/([+-]\d{2})(\d{2})$/, '$1:$2');
  const millis = Date.parse(normal);
  const day = Number(normal.slice(8, 10));
  const lastDay = new Date(Date.UTC(Number(normal.slice(0, 4)), Number(normal.slice(5, 7)), 0)).getUTCDate();
  return day <= lastDay ? millis : Number.NaN;
}
