import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeIssues, parseEnvelope, validateEnvelope } from '../../../lambdas/core/envelope.ts';
import { RESERVED_TYPES } from '../../../lambdas/core/table.ts';
import { deadlineEnvelope } from '../../helpers/envelopes.ts';

const SHA256 = 'a'.repeat(64);
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const { payload: _payload, ...withoutPayload } = deadlineEnvelope();

/** The issues of the valid envelope with `overrides`. */
function issuesOf(overrides: Record<string, unknown>): string[] {
  const result = parseEnvelope(JSON.stringify(deadlineEnvelope(overrides)));
  return result.ok ? [] : result.issues.map((issue) => describeIssues([issue]));
}

function read(overrides: Record<string, unknown>) {
  const result = parseEnvelope(JSON.stringify(deadlineEnvelope(overrides)));
  if (!result.ok) throw new Error(describeIssues(result.issues));
  return result.envelope;
}

describe('parseEnvelope', () => {
  it.each([
    ['messageId', '', '$.messageId: must not be empty (found string)'],
    ['messageId', 'm'.repeat(129), '$.messageId: must be at most 128 characters (found string)'],
    ['messageId', 7, '$.messageId: must be a string (found number)'],
    ['messageId', undefined, '$.messageId: is required (found nothing)'],
    ['schemaVersion', 0, '$.schemaVersion: must be at least 1 (found number)'],
    ['schemaVersion', 1.5, '$.schemaVersion: must be a whole number (found number)'],
    ['schemaVersion', '1', '$.schemaVersion: must be a number (found string)'],
    ['messageType', '9Type', '$.messageType: must match [A-Za-z][A-Za-z0-9]{0,99} (found string)'],
    [
      'messageType',
      `T${'x'.repeat(100)}`,
      '$.messageType: must match [A-Za-z][A-Za-z0-9]{0,99} (found string)',
    ],
    ['producer', 'p'.repeat(101), '$.producer: must be at most 100 characters (found string)'],
    ['occurredAt', '2026-02-30T00:00:00Z', '$.occurredAt: must be a date that exists (found string)'],
    [
      'occurredAt',
      '2026-01-01T00:00:00',
      '$.occurredAt: must be an ISO 8601 instant with an offset or Z (found string)',
    ],
    [
      'occurredAt',
      '2026-01-01',
      '$.occurredAt: must be an ISO 8601 instant with an offset or Z (found string)',
    ],
    ['occurredAt', 1_767_225_600_000, '$.occurredAt: must be a string (found number)'],
    ['idempotencyKey', '', '$.idempotencyKey: must not be empty (found string)'],
    ['idempotencyKey', 'k'.repeat(201), '$.idempotencyKey: must be at most 200 characters (found string)'],
    ['idempotencyKey', 'a\u0000b', '$.idempotencyKey: must hold no control characters (found string)'],
    ['idempotencyKey', null, '$.idempotencyKey: must be a string (found null)'],
    ['aggregateType', 'a-b', '$.aggregateType: must match [A-Za-z][A-Za-z0-9_]{0,99} (found string)'],
    ['aggregateId', 'i'.repeat(201), '$.aggregateId: must be at most 200 characters (found string)'],
    ['tenantId', 't'.repeat(129), '$.tenantId: must be at most 128 characters (found string)'],
    ['aggregateVersion', 0, '$.aggregateVersion: must be at least 1 (found number)'],
    ['causationId', '', '$.causationId: must not be empty (found string)'],
    ['correlationId', ['x'], '$.correlationId: must be a string (found array)'],
    [
      'traceparent',
      `ff${TRACE.slice(2)}`,
      '$.traceparent: must be a W3C Trace Context traceparent (found string)',
    ],
    ['payload', [], '$.payload: must be an object (found array)'],
    ['payload', null, '$.payload: must be an object (found null)'],
    ['payload', 'text', '$.payload: must be an object (found string)'],
    ['payload', undefined, '$: must have exactly one of payload and payloadRef (found object)'],
    [
      'payloadRef',
      { bucket: 'b', key: 'k', sha256: SHA256 },
      '$: must have exactly one of payload and payloadRef (found object)',
    ],
    [
      'retryableUntl',
      '2026-01-01T00:00:00Z',
      '$.retryableUntl: is not a field of the envelope (found string)',
    ],
    ['attemptPolicy', [], '$.attemptPolicy: must be an object (found array)'],
    ['attemptPolicy', 5, '$.attemptPolicy: must be an object (found number)'],
    ['payloadRef', 'x', '$.payloadRef: must be an object (found string)'],
    ['constructor', 'x', '$.constructor: is not a field of the envelope (found string)'],
  ])('refuses %s = %j', (field, value, expected) => {
    expect(issuesOf({ [field]: value })).toContain(expected);
  });

  it.each([
    ['maxBusinessAttempts', 101, 'must be at most 100'],
    ['maxBusinessAttempts', 0, 'must be at least 1'],
    ['notBefore', 'soon', 'must be an ISO 8601 instant with an offset or Z'],
    ['retryableUntil', null, 'must be a string'],
    ['terminalAfterCodes', Array.from({ length: 51 }, () => 'X'), 'must name at most 50 codes'],
    ['retryUntil', '2026-01-01T00:00:00Z', 'is not a field of the envelope'],
  ])('refuses attemptPolicy.%s = %j', (field, value, rule) => {
    expect(issuesOf({ attemptPolicy: { [field]: value } }).join()).toContain(
      `$.attemptPolicy.${field}: ${rule}`,
    );
  });

  it.each([
    ['sha256', 'A'.repeat(64), 'must be 64 lower-case hexadecimal digits'],
    ['bucket', '', 'must not be empty'],
    ['url', 'https://x', 'is not a field of the envelope'],
  ])('refuses payloadRef.%s = %j', (field, value, rule) => {
    const payloadRef = { bucket: 'b', key: 'k', sha256: SHA256, [field]: value };
    const result = parseEnvelope(JSON.stringify({ ...withoutPayload, payloadRef }));

    expect(!result.ok && describeIssues(result.issues)).toContain(`$.payloadRef.${field}: ${rule}`);
  });

  it.each(RESERVED_TYPES)('refuses the reserved aggregate type %s in any case', (type) => {
    expect(issuesOf({ aggregateType: type.toLowerCase() }).join()).toContain(
      '$.aggregateType: must not be one of',
    );
  });

  it.each([
    ['text that is no JSON', '{bad', '$: must be JSON (found text)'],
    ['an array', '[]', '$: must be an object (found array)'],
    ['null', 'null', '$: must be an object (found null)'],
    ['a number', '7', '$: must be an object (found number)'],
    ['a string that holds no envelope', '"hello"', '$: must be JSON (found string)'],
    ['a string in a string', JSON.stringify(JSON.stringify('{}')), '$: must be an object (found string)'],
  ])('refuses %s', (_what, body, expected) => {
    const result = parseEnvelope(body);

    expect(!result.ok && describeIssues(result.issues)).toBe(expected);
  });

  it('reads an envelope out of a JSON string, as an outbox pipe sends it', () => {
    const text = JSON.stringify(deadlineEnvelope());

    expect(parseEnvelope(JSON.stringify(text))).toEqual(parseEnvelope(text));
  });

  it.each([
    ['2026-01-01T12:00:00+02:00', '2026-01-01T10:00:00.000Z'],
    ['2026-01-01T12:00:00-0530', '2026-01-01T17:30:00.000Z'],
    ['2026-01-01T12:00Z', '2026-01-01T12:00:00.000Z'],
    ['2026-01-01T12:00:00,5Z', '2026-01-01T12:00:00.500Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ])('takes the instant %s as %s', (sent, stored) => {
    expect(read({ occurredAt: sent }).occurredAt).toBe(stored);
  });

  it('brings the key to NFC before it is measured', () => {
    expect(read({ idempotencyKey: 'e\u0301'.repeat(200) }).idempotencyKey).toBe('\u00e9'.repeat(200));
  });

  it('counts characters, not UTF-16 units', () => {
    expect(read({ aggregateId: '😀'.repeat(200) }).aggregateId).toHaveLength(400);
  });

  it('keeps every key of a payload, also those that objects inherit', () => {
    const payload = { constructor: 'builder', prototype: 1, toString: 'x', nested: { hasOwnProperty: true } };

    expect(read({ payload }).payload).toEqual(payload);
  });

  it('takes the trace of the message attribute when the envelope has none, and ignores a malformed one', () => {
    const body = JSON.stringify(deadlineEnvelope());
    const own = JSON.stringify(deadlineEnvelope({ traceparent: TRACE.replace('-01', '-00') }));

    expect(parseEnvelope(body, { traceparent: TRACE })).toMatchObject({ envelope: { traceparent: TRACE } });
    expect(parseEnvelope(own, { traceparent: TRACE })).not.toMatchObject({
      envelope: { traceparent: TRACE },
    });
    expect(parseEnvelope(body, { traceparent: 'nonsense' })).not.toHaveProperty('envelope.traceparent');
  });

  it('gives a bounded reason for a message with a hundred thousand faults', () => {
    const terminalAfterCodes = Array.from({ length: 100_000 }, () => 1);

    expect(issuesOf({ attemptPolicy: { terminalAfterCodes } })).toHaveLength(20);
  });

  it('never throws, and no message repeats a value', () => {
    const canary = 'CANARY';
    const field = fc.constantFrom(
      ...Object.keys(deadlineEnvelope()),
      'attemptPolicy',
      'payloadRef',
      'other key!',
    );
    const value = fc.oneof(
      fc.constantFrom(`${canary}\u0000`, `${canary}`.repeat(100), { [`${canary} ${canary}`]: canary }, [
        canary,
      ]),
      fc.jsonValue({ maxDepth: 2 }),
      fc.record({
        maxBusinessAttempts: fc.constant(canary),
        notBefore: fc.constant(canary),
        [`x ${canary}`]: fc.constant(1),
      }),
    );
    fc.assert(
      fc.property(fc.dictionary(field, value, { maxKeys: 4 }), (overrides) => {
        const result = parseEnvelope(JSON.stringify(deadlineEnvelope(overrides)));
        if (!result.ok) expect(describeIssues(result.issues)).not.toContain(canary);
      }),
    );
  });
});

describe('validateEnvelope', () => {
  it('gives the same for what it has normalised', () => {
    const once = validateEnvelope(deadlineEnvelope({ occurredAt: '2026-01-01T12:00:00+02:00' }));
    if (!once.ok) throw new Error('the envelope is valid');

    expect(validateEnvelope(once.envelope)).toEqual(once);
  });
});
