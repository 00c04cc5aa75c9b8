import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Envelope, validateEnvelope } from '../../../lambdas/core/envelope.ts';
import { canonicalJson, derivedKey, executionName, requestHash } from '../../../lambdas/core/identity.ts';
import { deadlineEnvelope } from '../../helpers/envelopes.ts';

function envelope(overrides: Record<string, unknown> = {}): Envelope {
  const result = validateEnvelope(deadlineEnvelope(overrides));
  if (!result.ok) throw new Error('the envelope is valid');
  return result.envelope;
}

describe('canonicalJson', () => {
  it('writes the example of RFC 8785, section 3.2.2', () => {
    const input: unknown = JSON.parse(
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
    );

    expect(canonicalJson(input)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('sorts keys by UTF-16 units, as RFC 8785, section 3.2.3', () => {
    const input = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };

    expect([...canonicalJson(input).matchAll(/:"([^"]+)"/g)].map(([, name]) => name)).toEqual([
      'Carriage Return',
      'One',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ]);
  });

  it.each([
    [0, '0'],
    [-0, '0'],
    [5e-324, '5e-324'],
    [-5e-324, '-5e-324'],
    [1.7976931348623157e308, '1.7976931348623157e+308'],
    [9007199254740992, '9007199254740992'],
    [295147905179352830000, '295147905179352830000'],
    [9.999999999999997e22, '9.999999999999997e+22'],
    [1e23, '1e+23'],
    [999999999999999700000, '999999999999999700000'],
    [333333333.3333332, '333333333.3333332'],
    [0.000001, '0.000001'],
    [1e-7, '1e-7'],
  ])('writes the number %d of RFC 8785, appendix B, as %s', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, undefined])('refuses %s', (value) => {
    expect(() => canonicalJson(value)).toThrow();
  });
});

describe('requestHash', () => {
  const hash = requestHash(envelope());

  it.each([
    ['messageId', 'another'],
    ['producer', 'another'],
    ['occurredAt', '2027-01-01T00:00:00Z'],
    ['causationId', 'c'],
    ['correlationId', 'c'],
    ['tenantId', 't'],
    ['traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
    ['attemptPolicy', { maxBusinessAttempts: 9 }],
    ['idempotencyKey', 'another'],
    ['aggregateType', 'CASE'],
  ])('does not depend on %s', (field, value) => {
    expect(requestHash(envelope({ [field]: value }))).toBe(hash);
  });

  it.each([
    ['messageType', 'Another'],
    ['schemaVersion', 1],
    ['aggregateType', 'other'],
    ['aggregateId', 'CASE-124'],
    ['aggregateVersion', 5],
    ['payload', { caseId: 'CASE-123' }],
  ])('depends on %s', (field, value) => {
    expect(requestHash(envelope({ [field]: value }))).not.toBe(hash);
  });

  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.integer()), (payload) => {
        const reversed = Object.fromEntries(Object.entries(payload).reverse());
        const [one, other] = [payload, reversed].map((sent) => requestHash({ ...envelope(), payload: sent }));
        expect(one).toBe(other);
      }),
    );
  });

  it('takes only the digest of a payload reference', () => {
    const { payload: _, ...rest } = envelope();
    const reference = { bucket: 'b', key: 'k', sha256: 'a'.repeat(64) };
    const moved = { bucket: 'c', key: 'other', versionId: '7', sha256: 'a'.repeat(64) };

    expect(requestHash({ ...rest, payloadRef: reference })).toBe(requestHash({ ...rest, payloadRef: moved }));
    expect(requestHash({ ...rest, payloadRef: { ...reference, sha256: 'b'.repeat(64) } })).not.toBe(
      requestHash({ ...rest, payloadRef: reference }),
    );
  });
});

describe('executionName', () => {
  it('can be read, and ends in the digest of the key', () => {
    expect(executionName('case:CASE-123:deadline:v4')).toMatch(/^case_CASE-123_deadline_v4-[0-9a-f]{32}$/);
  });

  it('shows nothing of the key in the style digest', () => {
    expect(executionName('anna@example.org', { style: 'digest' })).toMatch(/^key-[0-9a-f]{32}$/);
  });

  it('is within 80 characters of the safe alphabet, differs by key and by replay, whatever the key', () => {
    const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(key, key, fc.integer({ min: 0, max: 9999 }), (one, other, replay) => {
        const name = executionName(one, { replay });
        expect(name).toMatch(/^[A-Za-z0-9_-]{1,80}$/);
        expect(executionName(one, { replay })).toBe(name);
        expect(executionName(one, { replay: replay + 1 })).not.toBe(name);
        if (one !== other) expect(executionName(other, { replay })).not.toBe(name);
      }),
    );
  });

  it('lets the readable part give way to the replay number, never the digest', () => {
    const name = executionName('k'.repeat(200), { replay: 12_345 });

    expect(name).toMatch(/^k+-[0-9a-f]{32}-r12345$/);
    expect(name.length).toBeLessThanOrEqual(80);
  });
});

describe('a derived key', () => {
  it('is readable while it fits, and stays within what an envelope takes', () => {
    expect(derivedKey('order:1', 'paid')).toBe('order:1:paid');

    const long = derivedKey('😀'.repeat(200), 'paid');
    expect(long).toMatch(/^[0-9a-f]{64}:paid$/);
    expect(derivedKey('😁'.repeat(200), 'paid')).not.toBe(long);
  });
});
