import { describe, expect, it } from 'vitest';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { startWorker } from '../helpers/worker.ts';

describe('writes of a plan beside its aggregate', () => {
  it("count another aggregate's revision up, so that a plan which rests on it is made again", async () => {
    const transfer = probe(({ payload }) => ({
      set: { sent: true },
      writes: [{ key: { PK: 'PROBE#2', SK: 'META' }, set: { received: Number(payload.value) } }],
    }));
    const worker = await startWorker({ messages: [transfer] });

    await worker.send(probeEnvelope());
    await worker.send(probeEnvelope({ idempotencyKey: 'probe:2', payload: { value: 2 } }));
    await worker.untilIdle();

    expect(await worker.aggregate('probe', '1')).toMatchObject({ revision: 2, sent: true });
    expect(await worker.aggregate('probe', '2')).toMatchObject({ revision: 2 });
  });
});
