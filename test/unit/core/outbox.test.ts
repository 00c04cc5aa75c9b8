import { describe, expect, it } from 'vitest';
import { outboxItem } from '../../../lambdas/core/outbox.ts';
import { deadlineEnvelope } from '../../helpers/envelopes.ts';

const options = { tableName: 'cases', now: new Date('2026-01-01T00:00:00Z') };

describe('outboxItem', () => {
  it('puts the envelope as text under a key that the pipe filters by', () => {
    const { Put } = outboxItem(deadlineEnvelope(), options);

    expect(Put.TableName).toBe('cases');
    expect(Put.Item.PK.S).toMatch(/^OUTBOX#[0-9a-f]{64}$/);
    expect(JSON.parse(Put.Item.envelope.S)).toMatchObject({ idempotencyKey: 'case:CASE-123:deadline:v4' });
    expect(Put.Item.ttl.N).toBe(String(Date.UTC(2026, 0, 8) / 1000));
  });

  it('names the row after producer and messageId, whatever the time', () => {
    const later = { ...options, now: new Date('2026-01-02T00:00:00Z') };
    const key = (envelope: unknown, at = options) => outboxItem(envelope, at).Put.Item.PK.S;

    expect(key(deadlineEnvelope(), later)).toBe(key(deadlineEnvelope()));
    expect(key(deadlineEnvelope({ messageId: 'other' }))).not.toBe(key(deadlineEnvelope()));
    expect(key(deadlineEnvelope({ producer: 'other' }))).not.toBe(key(deadlineEnvelope()));
  });

  it('refuses an envelope by path and rule, without its values', () => {
    expect(() => outboxItem(deadlineEnvelope({ producer: 7 }), options)).toThrow(
      /\$\.producer: must be a string/,
    );
  });
});
