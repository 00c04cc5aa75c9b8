import { describe, expect, it } from 'vitest';
import type { CallFailure } from '../../../lambdas/core/provider.ts';
import { openDesk, type WaitingCall } from './desk.ts';

const LOST = { heartbeat: false, livesSeconds: 300 } as const;
const REFUSED: CallFailure = { done: 'no', kind: 'terminal', code: 'REFUSED' };

function nth(calls: readonly WaitingCall[], index: number): WaitingCall {
  const call = calls[index];
  if (call === undefined) throw new Error(`there is no call ${index}`);
  return call;
}

describe('the lease of an effect', () => {
  it('is extended while a call goes on, so that nobody takes it', async () => {
    const desk = await openDesk('idempotent');
    const first = desk.invoke({ livesSeconds: 300 });
    await desk.called(1);
    await desk.at(125);

    expect(await desk.invoke().result).toBe('EffectInProgress');
    expect(await desk.row()).toMatchObject({ leaseUntil: desk.start + 210_000 });

    nth(desk.calls, 0).answer({ reference: 'first' });
    expect(await first.result).toBe('COMPLETED');
    expect(desk.calls).toHaveLength(1);
  });

  it.each([
    { holder: 0, other: 30 },
    { holder: 0, other: -30 },
    { holder: 30, other: 0 },
    { holder: -30, other: 0 },
  ])(
    'is not taken from a living function: clock of the holder $holder s off, of the other $other s',
    async (skew) => {
      const desk = await openDesk('neither');
      const holder = desk.invoke({ skewSeconds: skew.holder, heartbeat: false });
      await desk.called(1);
      await desk.at(54);

      expect(await desk.invoke({ skewSeconds: skew.other }).result).toBe('EffectInProgress');
      nth(desk.calls, 0).answer({ reference: 'first' });
      expect(await holder.result).toBe('COMPLETED');
      expect(desk.calls).toHaveLength(1);
    },
  );

  it.each([
    { holder: 0, other: 30, freeAfter: 60 },
    { holder: 0, other: -30, freeAfter: 120 },
    { holder: 30, other: 0, freeAfter: 120 },
    { holder: -30, other: 0, freeAfter: 60 },
  ])(
    'is free $freeAfter s after a dead function took it, whose clock is $holder s off, for one that is $other s off',
    async ({ holder, other, freeAfter }) => {
      const desk = await openDesk('neither');
      desk.invoke({ ...LOST, skewSeconds: holder });
      await desk.called(1);

      await desk.at(freeAfter - 1);
      expect(await desk.invoke({ skewSeconds: other }).result).toBe('EffectInProgress');
      await desk.at(freeAfter);
      expect(await desk.invoke({ skewSeconds: other }).result).toBe('EffectInDoubt');
      expect(desk.calls).toHaveLength(1);
    },
  );
});

describe('an answer that comes after the lease was lost', () => {
  it('does not overwrite the one that is there, and is kept as evidence', async () => {
    const desk = await openDesk('idempotent');
    const late = desk.invoke(LOST);
    await desk.called(1);
    await desk.at(91);
    const second = desk.invoke();
    await desk.called(2);
    nth(desk.calls, 1).answer({ reference: 'second', response: { amount: 2 } });
    expect(await second.result).toBe('COMPLETED');

    nth(desk.calls, 0).answer({ reference: 'late', response: { amount: 1 } });

    expect(await late.result).toBe('COMPLETED');
    expect(await desk.row()).toMatchObject({
      status: 'COMPLETED',
      providerReference: 'second',
      response: '{"amount":2}',
      lateResult: { outcome: 'COMPLETED', reference: 'late' },
    });
    expect(new Set(desk.calls.map(({ key }) => key)).size).toBe(1);
  });

  it('settles a doubt, and the next who looks goes on without a person', async () => {
    const desk = await openDesk('neither');
    const late = desk.invoke(LOST);
    await desk.called(1);
    await desk.at(91);
    expect(await desk.invoke().result).toBe('EffectInDoubt');

    nth(desk.calls, 0).answer({ reference: 'late' });

    expect(await late.result).toBe('COMPLETED');
    const row = await desk.row();
    expect(row).toMatchObject({ status: 'COMPLETED', providerReference: 'late' });
    expect(row).not.toHaveProperty('attention');
    expect(await desk.invoke().result).toBe('COMPLETED');
    expect(desk.calls).toHaveLength(1);
  });

  it.each([
    { other: 'an answer', result: 'COMPLETED', status: 'COMPLETED' },
    { other: 'a failure', result: 'FAILED', status: 'FAILED' },
    { other: 'nothing yet', result: 'EffectInProgress', status: 'PENDING' },
  ])(
    'is only evidence when it is a refusal and the next caller has $other',
    async ({ other, result, status }) => {
      const desk = await openDesk('idempotent');
      const late = desk.invoke(LOST);
      await desk.called(1);
      await desk.at(91);
      const second = desk.invoke();
      await desk.called(2);
      if (other === 'an answer') nth(desk.calls, 1).answer({ reference: 'second' });
      if (other === 'a failure') nth(desk.calls, 1).fail({ ...REFUSED, code: 'OTHER' });
      if (other !== 'nothing yet') await second.result;

      nth(desk.calls, 0).fail(REFUSED);

      expect(await late.result).toBe(result);
      expect(await desk.row()).toMatchObject({ status, lateResult: { outcome: 'REFUSED' } });
    },
  );

  it('leaves a doubt to the person when it is a refusal', async () => {
    const desk = await openDesk('neither');
    const late = desk.invoke(LOST);
    await desk.called(1);
    await desk.at(91);
    await desk.invoke().result;

    nth(desk.calls, 0).fail(REFUSED);

    expect(await late.result).toBe('EffectInDoubt');
    expect(await desk.row()).toMatchObject({ status: 'IN_DOUBT', lateResult: { outcome: 'REFUSED' } });
  });

  it('does not take the place of a newer shared answer that is being made', async () => {
    const desk = await openDesk('harmless');
    const cache = { ttlSeconds: 3600, version: 1 };
    const late = desk.invoke({ ...LOST, effect: { cache } });
    await desk.called(1);
    await desk.at(91);
    const newer = desk.invoke({ effect: { cache: { ...cache, version: 2 } } });
    await desk.called(2);

    nth(desk.calls, 0).answer({ reference: 'late' });
    expect(await late.result).toBe('EffectInProgress');
    nth(desk.calls, 1).answer({ reference: 'newer' });

    expect(await newer.result).toBe('COMPLETED');
    expect(await desk.row()).toMatchObject({
      providerReference: 'newer',
      cacheVersion: 2,
      lateResult: { reference: 'late' },
    });
  });
});

describe('an effect whose request was changed after a lost call', () => {
  const CHANGED = { request: { amount: 20 }, requestHash: 'b'.repeat(64) };

  it('goes out as it was, under its key, with keep', async () => {
    const desk = await openDesk('idempotent');
    desk.invoke(LOST);
    await desk.called(1);
    await desk.at(91);

    const second = desk.invoke({ effect: { ...CHANGED, onRequestChange: 'keep' } });
    await desk.called(2);
    nth(desk.calls, 1).answer({ reference: 'second' });

    expect(await second.result).toBe('COMPLETED');
    expect(nth(desk.calls, 1)).toMatchObject({ key: nth(desk.calls, 0).key, request: { amount: 10 } });
    expect(await desk.row()).toMatchObject({ requestHash: 'a'.repeat(64), request: '{"amount":10}' });
  });

  it('waits for a person without keep: the key stands for the old request', async () => {
    const desk = await openDesk('idempotent');
    desk.invoke(LOST);
    await desk.called(1);
    await desk.at(91);

    expect(await desk.invoke({ effect: CHANGED }).result).toBe('EffectInDoubt');
    expect(desk.calls).toHaveLength(1);
  });
});

describe('a shared answer', () => {
  async function answered(version: number) {
    const desk = await openDesk('harmless');
    const first = desk.invoke({ effect: { cache: { ttlSeconds: 600, version } } });
    await desk.called(1);
    nth(desk.calls, 0).answer({ reference: 'first' });
    await first.result;
    return desk;
  }

  it.each([
    { asked: 2, after: 599, void: false },
    { asked: 1, after: 599, void: false },
    { asked: 3, after: 1, void: true },
    { asked: 2, after: 600, void: true },
  ])(
    'of version 2 is void: $void, asked for as $asked after $after of 600 s',
    async ({ asked, after, ...expected }) => {
      const desk = await answered(2);
      await desk.at(after);

      const second = desk.invoke({ effect: { cache: { ttlSeconds: 600, version: asked } } });
      if (expected.void) {
        await desk.called(2);
        nth(desk.calls, 1).answer({ reference: 'second' });
      }

      expect(await second.result).toBe('COMPLETED');
      expect(await desk.row()).toMatchObject({ providerReference: expected.void ? 'second' : 'first' });
      expect(desk.calls).toHaveLength(expected.void ? 2 : 1);
    },
  );
});
