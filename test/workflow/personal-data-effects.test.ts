import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { resolve } from '../../cli/commands/resolve-effect.ts';
import { forgetAggregate } from '../../lambdas/aws/forget.ts';
import { defineMessage } from '../../lambdas/core/message-type.ts';
import { defineProvider } from '../../lambdas/core/provider.ts';
import { sealedKey } from '../../lambdas/core/seal.ts';
import { everything, forgetDeps, histories, objects, recorder, rows } from '../helpers/held.ts';
import { startWorker } from '../helpers/worker.ts';
import { targetOf, testIo } from '../unit/cli/cli-io.ts';

const CANARY = 'canary7f3a';
const LARGE = 70 * 1024;

const letterOrdered = defineMessage({
  type: 'LetterOrdered',
  schemas: { 1: v.object({ address: v.string(), fail: v.boolean() }) },
  ordering: 'none',
  data: 'reference',
  attempts: { max: 1 },
  plan({ payload, effects }) {
    const letter = effects.letter;
    if (letter === undefined) {
      return { effects: [{ name: 'letter', provider: 'Post', operation: 'send', request: { ...payload } }] };
    }
    return { set: { sent: String(letter.reference) } };
  },
});

function post({ idempotent = true, code = 'ADDRESS_UNKNOWN' } = {}) {
  const requests: unknown[] = [];
  const provider = defineProvider<{ send: { address: string; fail: boolean } }>({
    name: 'Post',
    operations: {
      send: {
        schema: v.object({ address: v.string(), fail: v.boolean() }),
        idempotent,
        async execute({ request }) {
          requests.push(request);
          if (request.fail) throw new Error(`${request.address} is unknown`);
          return { reference: 'post-1', response: { to: request.address.repeat(LARGE / 10) } };
        },
        classify(error) {
          const message = error instanceof Error ? error.message : '';
          return idempotent
            ? { done: 'no', kind: 'terminal', code, message }
            : { done: 'unknown', code: 'ANSWER_LOST', message };
        },
      },
    },
  });
  return { requests, provider };
}

/** An envelope with the canary in every field that takes free text. */
const letter = (key: string, fail: boolean) => ({
  messageId: `${CANARY} m-${key}`,
  schemaVersion: 1,
  messageType: 'LetterOrdered',
  producer: `${CANARY} letters`,
  occurredAt: '2026-01-01T00:00:00Z',
  idempotencyKey: `${CANARY} ${key}`,
  aggregateType: 'LETTER',
  aggregateId: `${CANARY} 1`,
  tenantId: `${CANARY} tenant`,
  causationId: `${CANARY} cause`,
  correlationId: `${CANARY} correlation`,
  payload: { address: `${CANARY} road`, fail },
});

describe('effects of a type whose data is a reference', () => {
  const about = { aggregateType: 'letter', aggregateId: `${CANARY} 1` };

  it('are carried out, and leave their request in no history and after forget nowhere', async () => {
    const { requests, provider } = post();
    const { lines, telemetry } = recorder();
    const worker = await startWorker({ messages: [letterOrdered], providers: [provider], telemetry });

    await worker.send(letter('ok', false));
    await worker.untilIdle();
    await worker.send(letter('bad', true));
    await worker.untilIdle();

    expect(requests).toEqual([
      { address: `${CANARY} road`, fail: false },
      { address: `${CANARY} road`, fail: true },
    ]);
    expect(await worker.aggregate('letter', `${CANARY} 1`)).toMatchObject({ sent: 'post-1' });
    expect(await worker.inbox(sealedKey(`${CANARY} bad`))).toMatchObject({ failureCode: 'ADDRESS_UNKNOWN' });
    const history = await histories(worker);
    expect(history).toContain('RunEffects');
    expect(history).not.toContain(CANARY);
    expect(lines.length).toBeGreaterThan(5);
    expect(lines.filter((line) => line.includes(CANARY))).toEqual([]);

    expect(JSON.stringify(await rows(worker))).toContain(CANARY);
    await forgetAggregate({ ...about, now: new Date(worker.clock.now()) }, forgetDeps(worker));
    expect(JSON.stringify(await rows(worker))).not.toContain('EFFECT#');
    expect(await objects(worker)).toEqual([]);
    expect(JSON.stringify(await everything(worker, lines))).not.toContain(CANARY);
  });

  it('leave in no line what a provider gives for a code and is none', async () => {
    const { lines, telemetry } = recorder();
    const { provider } = post({ code: `${CANARY} is unknown` });
    const worker = await startWorker({ messages: [letterOrdered], providers: [provider], telemetry });

    await worker.send(letter('bad', true));
    await worker.untilIdle();

    expect(await worker.inbox(sealedKey(`${CANARY} bad`))).toMatchObject({ failureCode: 'PROVIDER_FAILED' });
    expect(lines.some((line) => line.includes('effect_called') && line.includes('PROVIDER_FAILED'))).toBe(
      true,
    );
    expect(lines.filter((line) => line.includes(CANARY))).toEqual([]);
  });

  it('leave nothing either when they were in doubt, and a person has said what happened', async () => {
    const { lines, telemetry } = recorder();
    const { provider } = post({ idempotent: false });
    const worker = await startWorker({ messages: [letterOrdered], providers: [provider], telemetry });

    await worker.send(letter('lost', true));
    const effect = `${sealedKey(`${CANARY} lost`)}#letter`;
    await worker.until(async () => (await rows(worker)).some((row) => row.includes('"IN_DOUBT"')));
    const options = { completed: true, reference: `${CANARY} reference`, json: false };
    await worker.until(async () => (await worker.executions('RUNNING')) === 1);
    expect(await resolve(effect, options, targetOf(worker), testIo())).toBe(0);
    await worker.untilIdle();

    expect(await worker.inbox(sealedKey(`${CANARY} lost`))).toMatchObject({ status: 'COMPLETED' });
    expect(await histories(worker)).not.toContain(CANARY);
    expect(lines.filter((line) => line.includes(CANARY))).toEqual([]);
    await forgetAggregate({ ...about, now: new Date(worker.clock.now()) }, forgetDeps(worker));
    expect(JSON.stringify(await everything(worker, lines))).not.toContain(CANARY);
  });
});
