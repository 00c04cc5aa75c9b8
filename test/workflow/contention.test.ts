import { describe, expect, it } from 'vitest';
import { type MetricName, SILENT } from '../../lambdas/core/telemetry.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { startWorker } from '../helpers/worker.ts';

describe('many messages of one unordered aggregate at once', () => {
  it('are all applied, their conflicts counted, without a business attempt', async () => {
    const metrics = new Map<MetricName, number>();
    const worker = await startWorker({
      messages: [
        probe(({ envelope, aggregate }) => ({
          set: {
            [`done-${envelope.idempotencyKey}`]: true,
            count: Number(aggregate?.attributes.count ?? 0) + 1,
          },
        })),
      ],
      telemetry: {
        ...SILENT,
        metric: (name, value) => metrics.set(name, (metrics.get(name) ?? 0) + value),
      },
    });
    const keys = Array.from({ length: 50 }, (_, index) => `k${index}`);

    for (const key of keys) await worker.send(probeEnvelope({ idempotencyKey: key }));
    await worker.untilIdle();

    expect(await worker.aggregate('probe', '1')).toMatchObject({ revision: 50, count: 50 });
    for (const key of keys) {
      expect(await worker.inbox(key)).toMatchObject({ status: 'COMPLETED', attempts: 1 });
    }
    expect(metrics.get('CommitConflicts')).toBeGreaterThan(0);
    expect(metrics.get('BusinessAttempts')).toBeUndefined();
  });
});
