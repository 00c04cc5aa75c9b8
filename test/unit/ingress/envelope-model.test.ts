import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { validateEnvelope } from '../../../lambdas/core/envelope.ts';
import { matchesSchema } from '../../../local/ingress/json-schema.ts';
import { readIngress } from '../../../local/ingress/template.ts';
import { deadlineEnvelope } from '../../helpers/envelopes.ts';
import { ingressTemplate } from '../../helpers/ingress-template.ts';

const modelOf = (fifo: boolean) => {
  const { routes } = readIngress(ingressTemplate({}, { fifo }).toJSON());
  return routes[0]?.model ?? {};
};
const standard = modelOf(false);
const fifo = modelOf(true);

const words = fc.oneof(
  fc.string({ maxLength: 140 }),
  fc.constantFrom(
    '',
    'é'.repeat(100),
    'IDEMP',
    'effect',
    'Case_1',
    '2026-01-01T00:00:00Z',
    '2026-02-30T25:00:00+01:00',
  ),
);
const values = fc.oneof(words, fc.integer(), fc.double(), fc.constant(null), fc.object(), fc.boolean());
const changes = fc.dictionary(
  fc.constantFrom(
    ...Object.keys(deadlineEnvelope()),
    'tenantId',
    'causationId',
    'traceparent',
    'payloadRef',
    'extra',
  ),
  values,
  { maxKeys: 2 },
);

describe('the envelope’s model', () => {
  it('refuses nothing that the starter would accept, but for a tenant that is no message group', () => {
    fc.assert(
      fc.property(changes, (change) => {
        const envelope = deadlineEnvelope(change);
        if (!validateEnvelope(envelope).ok || change.tenantId !== undefined) return;
        expect(matchesSchema(JSON.parse(JSON.stringify(envelope)), standard)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['an unknown field', { extra: 1 }],
    ['a missing key', { idempotencyKey: undefined }],
    ['an empty key', { idempotencyKey: '' }],
    ['a type with a space', { messageType: 'Case Opened' }],
    ['a reserved aggregate type in any case', { aggregateType: 'Outbox' }],
    ['neither payload nor reference', { payload: undefined }],
    ['both', { payloadRef: { bucket: 'b', key: 'k', sha256: 'a'.repeat(64) } }],
    ['a version of 0', { aggregateVersion: 0 }],
    ['a version that is text', { schemaVersion: '1' }],
    ['a time without an offset', { occurredAt: '2026-01-01T00:00:00' }],
    ['a misspelt policy', { attemptPolicy: { retryableUnti: '2026-01-01T00:00:00Z' } }],
  ])('refuses %s', (_what, change) => {
    expect(matchesSchema(JSON.parse(JSON.stringify(deadlineEnvelope(change))), standard)).toBe(false);
  });

  it('takes for a message group only what SQS takes', () => {
    expect(matchesSchema(deadlineEnvelope({ aggregateId: 'CASE 123' }), fifo)).toBe(false);
    expect(matchesSchema(deadlineEnvelope({ aggregateId: 'CASE 123' }), standard)).toBe(true);
    expect(matchesSchema(deadlineEnvelope({ tenantId: 'übung' }), standard)).toBe(false);
    expect(matchesSchema(deadlineEnvelope({ tenantId: 'übung' }), fifo)).toBe(true);
  });
});
