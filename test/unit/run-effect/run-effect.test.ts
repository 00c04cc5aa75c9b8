import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { defineProvider } from '../../../lambdas/core/provider.ts';
import { SILENT } from '../../../lambdas/core/telemetry.ts';
import { type RunEffectDeps, runEffect } from '../../../lambdas/run-effect/run-effect.ts';
import { CAPTURE, openEffectLog } from '../../helpers/effect-log.ts';

type Kind = 'idempotent' | 'lookup' | 'neither';
const KINDS: readonly Kind[] = ['idempotent', 'lookup', 'neither'];

/** A provider with a ledger, a log on the embedded DynamoDB, and a process that can be killed at its n-th step. */
async function setUp(kind: Kind) {
  const { clock, newId, log, row } = await openEffectLog();
  const calls: string[] = [];
  const charged = new Set<string>();
  let charges = 0;
  const charge = (key: string) => {
    calls.push(key);
    if (kind === 'idempotent' && charged.has(key)) return;
    charged.add(key);
    charges += 1;
  };

  function deps(killAt = Number.POSITIVE_INFINITY) {
    let step = 0;
    const { promise: died, resolve } = Promise.withResolvers<'killed'>();
    /** Two steps a call: before it, and after it took effect. */
    const mortal = async <T>(work: () => Promise<T>): Promise<T> => {
      if (step++ >= killAt) return die();
      const result = await work();
      return step++ >= killAt ? die() : result;
    };
    const die = () => {
      resolve('killed');
      return new Promise<never>(() => {});
    };
    const provider = defineProvider({
      name: 'Bank',
      operations: {
        capture: {
          schema: v.object({ amount: v.number() }),
          idempotent: kind === 'idempotent',
          execute: (call) =>
            mortal(async () => {
              charge(call.key);
              return { reference: call.key };
            }),
          ...(kind === 'lookup'
            ? {
                lookup: (call: { readonly key: string }) =>
                  mortal(async () =>
                    charged.has(call.key)
                      ? ({ found: 'done', answer: { reference: call.key } } as const)
                      : ({ found: 'notDone' } as const),
                  ),
              }
            : {}),
          classify: () => ({ done: 'unknown', code: 'BANK_SILENT' }),
        },
      },
    });
    const runDeps: RunEffectDeps = {
      clock,
      random: () => 0,
      newId,
      provider: 'Bank',
      operations: provider.open({ env: {}, clock, secret: async () => '' }),
      telemetry: SILENT,
      functionTimeoutSeconds: 60,
      offload: async () => ({ bucket: 'b', key: 'k', sha256: 's' }),
      log: {
        open: (...input) => mortal(() => log.open(...input)),
        take: (...input) => mortal(() => log.take(...input)),
        takeForLookup: (...input) => mortal(() => log.takeForLookup(...input)),
        renew: (...input) => mortal(() => log.renew(...input)),
        extend: (...input) => (step > killAt ? die() : log.extend(...input)),
        complete: (...input) => mortal(() => log.complete(...input)),
        fail: (...input) => mortal(() => log.fail(...input)),
        doubt: (...input) => mortal(() => log.doubt(...input)),
        keepLate: (...input) => mortal(() => log.keepLate(...input)),
      },
    };
    return { runDeps, died };
  }

  const execution = { Id: 'arn', Name: 'order-1' };
  return {
    clock,
    log,
    calls,
    charges: () => charges,
    /** Runs until it ends or is killed. */
    async run(killAt?: number, effect = CAPTURE) {
      const { runDeps, died } = deps(killAt);
      const running = runEffect({ effect, execution }, runDeps).then(
        ({ status }) => status,
        (error: unknown) => (error instanceof Error ? error.name : 'thrown'),
      );
      return Promise.race([running, died]);
    },
    row,
  };
}

describe('runEffect', () => {
  it.each(KINDS)('charges at most once when killed at any step (%s)', async (kind) => {
    for (let killAt = 0; ; killAt += 1) {
      const bank = await setUp(kind);
      const first = await bank.run(killAt);
      bank.clock.moveTo(bank.clock.now() + 91_000);
      const second = await bank.run();

      expect(bank.charges(), `killed at ${killAt}`).toBeLessThanOrEqual(1);
      if (kind === 'neither') expect(bank.calls.length).toBeLessThanOrEqual(1);
      else expect([second, bank.charges()], `killed at ${killAt}`).toEqual(['COMPLETED', 1]);
      if (second === 'EffectInDoubt') {
        const row = await bank.row();
        expect(row).toMatchObject({ status: 'IN_DOUBT', attention: expect.stringMatching(/^IN_DOUBT#/) });
        expect(row).not.toHaveProperty('ttl');
      }
      if (first !== 'killed') {
        expect(killAt).toBeGreaterThan(4);
        return;
      }
    }
  });

  it('calls once when two ask at the same instant', async () => {
    const bank = await setUp('neither');

    const results = await Promise.all([bank.run(), bank.run()]);

    expect(bank.charges()).toBe(1);
    expect(results).toContain('COMPLETED');
  });

  it('waits while a lease lives, also for a claimant whose clock is 30 s ahead', async () => {
    const bank = await setUp('neither');
    await bank.run(1);

    bank.clock.moveTo(bank.clock.now() + 89_000);

    expect(await bank.run()).toBe('EffectInProgress');
    expect((await bank.row())?.status).toBe('PENDING');
  });

  it('leaves a completed effect with another request to Plan, and calls nothing', async () => {
    const bank = await setUp('idempotent');
    await bank.run();

    expect(await bank.run(undefined, { ...CAPTURE, requestHash: 'b'.repeat(64) })).toBe('COMPLETED');
    expect(await bank.row()).toMatchObject({ requestHash: CAPTURE.requestHash });
    expect(bank.calls).toEqual([CAPTURE.key]);
  });
});
