import * as v from 'valibot';
import type { WireEffect } from '../../../lambdas/core/decision.ts';
import { type CallFailure, defineProvider, type EffectAnswer } from '../../../lambdas/core/provider.ts';
import { SILENT } from '../../../lambdas/core/telemetry.ts';
import { runEffect } from '../../../lambdas/run-effect/run-effect.ts';
import { runUntil } from '../../../local/drive.ts';
import { CAPTURE, openEffectLog } from '../../helpers/effect-log.ts';

/** A call that has reached the provider and waits for the test to answer it. */
export interface WaitingCall {
  readonly key: string;
  readonly request: unknown;
  answer(answer: EffectAnswer): void;
  fail(failure: CallFailure): void;
}

export interface Invocation {
  /** The status, or the name of the error that the state machine routes by. */
  readonly result: Promise<string>;
}

class Refusal extends Error {
  readonly failure: CallFailure;

  constructor(failure: CallFailure) {
    super('refused');
    this.failure = failure;
  }
}

/** Invocations of RunEffect on one log, and a provider whose every answer the test gives. */
export async function openDesk(kind: 'idempotent' | 'neither' | 'harmless') {
  const { clock, newId, activity, log, row } = await openEffectLog();
  const calls: WaitingCall[] = [];
  const provider = defineProvider({
    name: 'Bank',
    operations: {
      capture: {
        schema: v.unknown(),
        idempotent: kind === 'idempotent',
        ...(kind === 'harmless' ? { harmless: true } : {}),
        execute: ({ key, request }) =>
          new Promise<EffectAnswer>((resolve, reject) => {
            calls.push({ key, request, answer: resolve, fail: (failure) => reject(new Refusal(failure)) });
          }),
        classify: (error) =>
          error instanceof Refusal ? error.failure : { done: 'unknown', code: 'BANK_SILENT' },
      },
    },
  });

  return {
    start: clock.now(),
    calls,
    /** An invocation of a function whose time-out is 60 s, so that its lease is 90 s. */
    invoke({
      effect = {},
      skewSeconds = 0,
      heartbeat = true,
      livesSeconds = 60,
    }: {
      readonly effect?: Partial<WireEffect>;
      /** How far ahead this function's clock is. */
      readonly skewSeconds?: number;
      /** False when none of its heartbeats reaches the log. */
      readonly heartbeat?: boolean;
      readonly livesSeconds?: number;
    } = {}): Invocation {
      const running = runEffect(
        { effect: { ...CAPTURE, ...effect }, execution: { Id: 'arn', Name: 'order-1' } },
        {
          clock: { now: () => clock.now() + skewSeconds * 1000, sleep: clock.sleep },
          random: () => 0,
          newId,
          provider: 'Bank',
          operations: provider.open({ env: {}, clock, secret: async () => '' }),
          telemetry: SILENT,
          functionTimeoutSeconds: 60,
          offload: async () => ({ bucket: 'b', key: 'k', sha256: 's' }),
          log: heartbeat ? log : { ...log, extend: () => Promise.reject(new Error('not reached')) },
        },
        livesSeconds * 1000,
      );
      return {
        result: running.then(
          ({ status }) => status,
          (error: unknown) => (error instanceof Error ? error.name : 'thrown'),
        ),
      };
    },
    /** Lets time pass until the provider has been called this often. */
    called: (count: number) => runUntil(() => calls.length === count, { clock, inFlight: activity.inFlight }),
    /** Lets time pass until so many seconds after the start. */
    async at(seconds: number) {
      const time = Date.UTC(2026, 0, 1) + seconds * 1000;
      const tick = clock.sleep(Math.max(0, time - clock.now()));
      await runUntil(() => clock.now() >= time, { clock, inFlight: activity.inFlight });
      await tick;
    },
    row,
  };
}
