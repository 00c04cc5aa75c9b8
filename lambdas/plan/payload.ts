import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Envelope } from '../core/envelope.ts';
import { FAILURE_CODES, RetryableFailure, TerminalFailure } from '../core/errors.ts';
import type { ExecutionInput } from '../core/execution.ts';
import { sha256 } from '../core/identity.ts';
import type { AnyMessageDefinition } from '../core/message-type.ts';
import type { PayloadReader } from '../core/ports.ts';
import { parseStrictJson } from '../core/strict-json.ts';
import { runTeamCode } from './team-code.ts';

const DEFAULT_MAX_PAYLOAD_BYTES = 10 * 1024 * 1024;

/**
 * The payload of a message, fetched when it is a reference, validated and lifted to the newest schema version.
 *
 * @throws RetryableFailure `PAYLOAD_NOT_FOUND`
 * @throws TerminalFailure `UNKNOWN_SCHEMA_VERSION`, `INVALID_PAYLOAD`, `PAYLOAD_*`
 */
export async function resolvePayload(
  { envelope, offloaded }: Pick<ExecutionInput, 'envelope' | 'offloaded'>,
  definition: AnyMessageDefinition,
  payloads: PayloadReader,
): Promise<unknown> {
  if (definition.schemas[envelope.schemaVersion] === undefined) {
    const known = Object.keys(definition.schemas).join(', ');
    throw new TerminalFailure(
      FAILURE_CODES.UNKNOWN_SCHEMA_VERSION,
      `${definition.type} is deployed with schema versions ${known}, not ${envelope.schemaVersion}`,
    );
  }
  const asSent = offloaded === true ? { ...definition, payloadFormat: 'json' as const } : definition;
  const raw =
    envelope.payloadRef === undefined ? envelope.payload : await fetchPayload(envelope, asSent, payloads);
  return validated(raw, envelope.schemaVersion, definition);
}

/**
 * The object that an envelope names.
 * @throws WorkerFailure `PAYLOAD_*`
 */
export async function fetchPayload(
  envelope: Envelope,
  definition: Pick<AnyMessageDefinition, 'payloadFormat' | 'maxPayloadBytes'>,
  payloads: PayloadReader,
): Promise<unknown> {
  const ref = envelope.payloadRef;
  if (ref === undefined) return undefined;
  if (!payloads.allows(ref.bucket)) {
    throw new TerminalFailure(
      FAILURE_CODES.PAYLOAD_BUCKET_NOT_ALLOWED,
      'payloadRef.bucket is none of the buckets that this worker was given (payloadBuckets)',
    );
  }
  const limit = definition.maxPayloadBytes ?? DEFAULT_MAX_PAYLOAD_BYTES;
  const object = await payloads.fetch(ref, limit);
  switch (object.status) {
    case 'notFound':
      throw new RetryableFailure(FAILURE_CODES.PAYLOAD_NOT_FOUND, {
        message: 'the object that payloadRef names does not exist (yet)',
      });
    case 'denied':
      throw new TerminalFailure(
        FAILURE_CODES.PAYLOAD_ACCESS_DENIED,
        'the worker may not read the object that payloadRef names: check bucket and key policies',
      );
    case 'tooLarge':
      throw new TerminalFailure(
        FAILURE_CODES.PAYLOAD_TOO_LARGE,
        `the object that payloadRef names has ${object.bytes} bytes, the type takes ${limit}`,
      );
    case 'found':
      break;
  }
  if (sha256(object.bytes) !== ref.sha256) {
    throw new TerminalFailure(
      FAILURE_CODES.PAYLOAD_CHECKSUM_MISMATCH,
      'the object that payloadRef names is not the one that was sent: its SHA-256 differs',
    );
  }
  return definition.payloadFormat === 'bytes' ? object.bytes : jsonOf(object.bytes);
}

/** Strict about the encoding too: what is no UTF-8 would be replaced silently, and a byte order mark dropped. */
function jsonOf(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new TerminalFailure(FAILURE_CODES.INVALID_PAYLOAD, '$: must be UTF-8');
  }
  const parsed = parseStrictJson(text);
  if (!parsed.ok) {
    throw new TerminalFailure(FAILURE_CODES.INVALID_PAYLOAD, `${parsed.fault.path}: ${parsed.fault.rule}`);
  }
  return parsed.value;
}

/** Validates under the sent version, then lifts and validates again, version by version. */
async function validated(raw: unknown, version: number, definition: AnyMessageDefinition): Promise<unknown> {
  let value = raw;
  for (let current = version; ; current += 1) {
    const schema = definition.schemas[current];
    if (schema === undefined) {
      throw new TerminalFailure(
        FAILURE_CODES.UNKNOWN_SCHEMA_VERSION,
        `${definition.type} has no schema ${current} to lift to`,
      );
    }
    value = await validate(schema, value, current);
    const upcast = definition.upcast?.[current];
    if (upcast === undefined) return value;
    const older = value;
    value = await runTeamCode(() => upcast(older));
  }
}

async function validate(schema: StandardSchemaV1, value: unknown, version: number): Promise<unknown> {
  const result = await runTeamCode(() => schema['~standard'].validate(value));
  if (result.issues === undefined) return result.value;
  const issues = result.issues.slice(0, 10).map(describeIssue);
  throw new TerminalFailure(FAILURE_CODES.INVALID_PAYLOAD, `schema ${version}: ${issues.join('; ')}`);
}

/**
 * The path only: a library's text may quote the value ("received …"), which may be personal data, and a row and a
 * queue are no place for it.
 */
function describeIssue(issue: StandardSchemaV1.Issue): string {
  const path = (issue.path ?? []).map((segment) => {
    const key = typeof segment === 'object' ? segment.key : segment;
    if (typeof key === 'number') return `[${key}]`;
    // A key of a record is the sender's text too: only a name-like one is repeated.
    return /^[A-Za-z_]\w{0,49}$/.test(String(key)) ? `.${String(key)}` : '[?]';
  });
  return `$.payload${path.join('')} is not as the schema wants it`;
}
