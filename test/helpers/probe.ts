import * as v from 'valibot';
import {
  defineMessage,
  type MessageDefinition,
  type Plan,
  type PlanInput,
} from '../../lambdas/core/message-type.ts';

export type ProbePayload = Record<string, unknown>;
type Settings = Partial<Omit<MessageDefinition<ProbePayload>, 'schemas' | 'plan' | 'upcast'>>;

/** A message type for tests, `Probe` unless said otherwise, whose handler is the test's. */
export function probe(plan: (input: PlanInput<ProbePayload>) => Plan, settings: Settings = {}) {
  return defineMessage({
    type: 'Probe',
    ordering: 'none',
    schemas: { 1: v.record(v.string(), v.unknown()) },
    ...settings,
    plan,
  });
}

/** A valid envelope for {@link probe}; overrides replace fields. */
export function probeEnvelope(overrides: Record<string, unknown> = {}) {
  return {
    messageId: 'msg-probe',
    schemaVersion: 1,
    messageType: 'Probe',
    producer: 'test',
    occurredAt: '2026-01-01T00:00:00Z',
    idempotencyKey: 'probe:1',
    aggregateType: 'probe',
    aggregateId: '1',
    payload: { value: 1 },
    ...overrides,
  };
}
