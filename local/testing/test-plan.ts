import { type Envelope, validateEnvelope } from '../../lambdas/core/envelope.ts';
import type { AnyMessageDefinition, EffectResult, Plan } from '../../lambdas/core/message-type.ts';
import { checkEffects, checkPlan } from '../../lambdas/core/plan-checks.ts';
import { resolvePayload } from '../../lambdas/plan/payload.ts';

/** What a handler is given in a test. */
export interface TestPlanInput {
  /** As sent: it is validated and lifted to the newest schema version. */
  readonly payload: object;
  /** Schema version of the payload. @default the newest */
  readonly schemaVersion?: number;
  /** The aggregate's attributes. @default it has never been written */
  readonly aggregate?: Readonly<Record<string, unknown>>;
  /** Answers of effects, by name. @default none has happened */
  readonly effects?: Readonly<Record<string, Partial<EffectResult>>>;
  /** Items that `reads` names, in its order. @default there are none */
  readonly reads?: readonly (Readonly<Record<string, unknown>> | undefined)[];
  /** Fields of the envelope. @default an ordinary one */
  readonly envelope?: Partial<Envelope>;
  /** When the execution started, for the handler. @default 2026-01-01T00:00:00Z */
  readonly now?: Date;
}

const NOW = new Date('2026-01-01T00:00:00Z');

/**
 * Runs a handler as Plan does: payload validated and lifted, plan checked. What the handler throws is thrown.
 *
 * @throws TerminalFailure `INVALID_PAYLOAD`, `UNKNOWN_SCHEMA_VERSION`, `PLAN_INVALID`, `PLAN_TOO_LARGE`
 */
export async function testPlan(definition: AnyMessageDefinition, input: TestPlanInput): Promise<Plan> {
  const now = input.now ?? NOW;
  const envelope = envelopeOf(definition, input, now);
  const payload = await resolvePayload({ envelope }, definition, NO_OBJECTS);
  const { aggregate, effects = {}, reads = [] } = input;
  const plan = definition.plan({
    envelope,
    payload,
    aggregate: aggregate === undefined ? undefined : { attributes: aggregate, revision: 1, version: 0 },
    effects: Object.fromEntries(
      Object.entries(effects).map(([name, result]) => [name, { degraded: false, ...result }]),
    ),
    reads,
    now,
  });
  checkEffects(plan.effects ?? [], envelope);
  checkPlan(plan, { envelope, producer: 'test', occurredAt: now.toISOString() });
  return plan;
}

const NO_OBJECTS = {
  allows: () => false,
  fetch: async () => ({ status: 'notFound' }) as const,
};

function envelopeOf(definition: AnyMessageDefinition, input: TestPlanInput, now: Date): Envelope {
  const newest = Math.max(...Object.keys(definition.schemas).map(Number));
  const { payloadRef: _, ...fields } = input.envelope ?? {};
  const result = validateEnvelope({
    messageId: 'test-message',
    schemaVersion: input.schemaVersion ?? newest,
    messageType: definition.type,
    producer: 'test',
    occurredAt: now.toISOString(),
    idempotencyKey: 'test-key',
    aggregateType: 'TEST',
    aggregateId: 'test-1',
    aggregateVersion: 1,
    ...fields,
    payload: input.payload,
  });
  if (result.ok) return result.envelope;
  const [first] = result.issues;
  throw new TypeError(`testPlan: ${first?.path} ${first?.rule}`);
}
