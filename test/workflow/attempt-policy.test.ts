import { describe, expect, it } from 'vitest';
import { RetryableFailure } from '../../lambdas/core/errors.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { receiveAll } from '../helpers/queue.ts';
import { startWorker } from '../helpers/worker.ts';

const KEY = 'probe:1';

describe('the attempt policy', () => {
  it('spends no attempt before notBefore', async () => {
    const times: number[] = [];
    const clock = { now: () => 0 };
    const definition = probe(() => {
      times.push(clock.now());
      return { set: { value: 1 } };
    });
    const worker = await startWorker({ messages: [definition] });
    clock.now = () => worker.clock.now();
    const notBefore = worker.clock.now() + 6 * 3600 * 1000;
    await worker.send(probeEnvelope({ attemptPolicy: { notBefore: new Date(notBefore).toISOString() } }));
    await worker.untilIdle();

    expect(times).toHaveLength(1);
    expect(times[0]).toBeGreaterThanOrEqual(notBefore);
    expect((await worker.execution(KEY)).states).toEqual(['Plan', 'Commit', 'Defer', 'Plan', 'Commit']);
    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED', attempts: 1 });
  });

  it('refuses a notBefore that no execution lives to see', async () => {
    const worker = await startWorker({ messages: [probe(() => ({ set: { value: 1 } }))] });
    await worker.send(probeEnvelope({ attemptPolicy: { notBefore: '2026-03-01T00:00:00Z' } }));
    await worker.untilIdle();

    const [kept] = await receiveAll(worker, worker.names.dlqUrl);
    expect(kept?.attributes).toMatchObject({
      FailureCode: 'INVALID_ENVELOPE',
      FailureReason: expect.stringContaining('$.attemptPolicy.notBefore'),
    });
  });

  it('waits at least as long as the failure asks for', async () => {
    const times: number[] = [];
    const clock = { now: () => 0 };
    const definition = probe(() => {
      times.push(clock.now());
      throw new RetryableFailure('BUSY', { retryAfterSeconds: 700 });
    });
    const worker = await startWorker({ messages: [definition] });
    clock.now = () => worker.clock.now();
    await worker.send(probeEnvelope());
    await worker.untilIdle();

    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(waits).toHaveLength(4);
    for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(700_000);
  });

  it('lets a hundred attempts fit a history, and their waits follow the back-off', async () => {
    const definition = probe(
      () => {
        throw new RetryableFailure('BUSY');
      },
      { attempts: { max: 100, baseSeconds: 2, capSeconds: 300 } },
    );
    const worker = await startWorker({ messages: [definition] });
    const start = worker.clock.now();
    await worker.send(probeEnvelope());
    await worker.untilIdle();

    const { arn, states } = await worker.execution(KEY);
    expect(states.filter((name) => name === 'RecordFailure')).toHaveLength(100);
    expect(worker.stepFunctions.history(arn)?.length).toBeLessThan(2_500);
    // Full jitter: half of 2+4+…+256 and of 91 waits with the cap of 300, give or take.
    const waited = (worker.clock.now() - start) / 1000;
    expect(waited).toBeGreaterThan(0.7 * (255 + 91 * 150));
    expect(waited).toBeLessThan(1.3 * (255 + 91 * 150));
  });
});
