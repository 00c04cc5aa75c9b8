import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WireEffect } from '../../../lambdas/core/decision.ts';
import { SILENT } from '../../../lambdas/core/telemetry.ts';
import { providers } from '../../../lambdas/providers/index.ts';
import { runEffect } from '../../../lambdas/run-effect/run-effect.ts';
import type { ProviderFault } from '../../../local/providers/provider-server.ts';
import { type LocalProviders, startProviders } from '../../../local/providers/start-providers.ts';
import { openEffectLog } from '../../helpers/effect-log.ts';
import { open } from './setup.ts';

/** An effect of each provider, and the service that carries it out. */
const EFFECTS = {
  Payments: {
    operation: 'capture',
    request: { paymentId: 'P-1', amount: 1250, currency: 'EUR' },
    service: 'payments',
  },
  Notices: {
    operation: 'deliver',
    request: { caseId: 'C-1', recipient: 'office', template: 'deadline' },
    service: 'notices',
  },
  Email: {
    operation: 'send',
    request: { from: 'a@example.org', to: ['b@example.org'], subject: 'Hello', text: 'there' },
    service: 'ses',
  },
  Model: {
    operation: 'converse',
    request: { modelId: 'm', messages: [{ role: 'user', text: 'hello' }] },
    service: 'bedrock',
  },
} as const;
type Name = keyof typeof EFFECTS;

const LOST: readonly ProviderFault['how'][] = ['cut', 'halfway', 'garbage', { status: 500 }];

let local: LocalProviders;
beforeEach(async () => {
  local = await startProviders();
});
afterEach(() => local.close());

/** RunEffect with a shipped provider, against the service on loopback and a log of its own. */
async function setUp(name: Name) {
  const { clock, newId, log } = await openEffectLog();
  const provider = providers.find((candidate) => candidate.name === name);
  if (provider === undefined) throw new Error(`${name} is not shipped`);
  const { operation, request, service } = EFFECTS[name];
  const effect: WireEffect = {
    key: 'order-1#it',
    name: 'it',
    provider: name,
    operation,
    request: structuredClone(request),
    requestHash: 'a'.repeat(64),
    onRequestChange: 'fail',
    idempotencyKey: 'order-1',
  };
  const deps = {
    clock,
    random: () => 0,
    newId,
    provider: name,
    operations: open(provider, local.env, { clock }),
    telemetry: SILENT,
    functionTimeoutSeconds: 60,
    offload: async () => ({ bucket: 'b', key: 'k', sha256: 's' }),
    log,
  };
  return {
    service: local[service],
    /** @returns the status, or the name of the error that the state machine routes by */
    attempt: (attempt: number) =>
      runEffect({ effect: { ...effect, attempt }, execution: { Id: 'arn', Name: 'order-1' } }, deps).then(
        ({ status }) => status,
        (error: unknown) => (error instanceof Error ? error.name : 'thrown'),
      ),
  };
}

describe('RunEffect with the shipped providers', () => {
  it.each(LOST)('captures once when the answer is lost by %o', async (how) => {
    const { attempt } = await setUp('Payments');
    local.payments.fail({ when: 'after', how });

    const results = [await attempt(0), await attempt(1), await attempt(2)];

    expect(results).toEqual(['FAILED', 'COMPLETED', 'COMPLETED']);
    expect(local.payments.ledger).toHaveLength(1);
    expect(local.payments.requests).toHaveLength(2);
  });

  it('keeps the key when another call under it is still under way', async () => {
    const { attempt } = await setUp('Payments');
    local.payments.fail({ when: 'before', how: { status: 409 } });

    const results = [await attempt(0), await attempt(1)];

    expect(results).toEqual(['FAILED', 'COMPLETED']);
    expect(local.payments.ledger.map(({ key }) => key)).toEqual(['order-1#it']);
  });

  it.each((['Notices', 'Email'] as const).flatMap((name) => LOST.map((how) => [name, how] as const)))(
    '%s never calls again when the answer is lost by %o',
    async (name, how) => {
      const { service, attempt } = await setUp(name);
      service.fail({ when: 'after', how });

      const results = [await attempt(0), await attempt(1)];

      expect(results).toEqual(['EffectInDoubt', 'EffectInDoubt']);
      expect(service.requests).toHaveLength(1);
    },
  );

  it.each(['Payments', 'Notices', 'Email', 'Model'] as const)(
    '%s is called again after a refusal for the time being',
    async (name) => {
      const { service, attempt } = await setUp(name);
      service.fail({ when: 'before', how: { status: 429, code: 'TooManyRequestsException' } });

      const results = [await attempt(0), await attempt(1)];

      expect(results).toEqual(['FAILED', 'COMPLETED']);
    },
  );

  it.each(LOST)('asks the model again when its answer is lost by %o', async (how) => {
    const { attempt } = await setUp('Model');
    local.bedrock.fail({ when: 'after', how });

    const results = [await attempt(0), await attempt(1)];

    expect(results).toEqual(['FAILED', 'COMPLETED']);
    expect(local.bedrock.ledger).toHaveLength(2);
  });
});
