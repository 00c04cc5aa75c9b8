import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { toItem } from '../../lambdas/aws/items.ts';
import { RoutedError } from '../../lambdas/core/commit-errors.ts';
import { aggregateKey } from '../../lambdas/core/table.ts';
import { type MetricName, SILENT } from '../../lambdas/core/telemetry.ts';
import type { Fault, FaultInjector } from '../../local/edge/faults.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

const KEY = 'probe:1';
const applies = probe(({ payload }) => ({ set: { value: Number(payload.value) } }));

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

/** Moves the aggregate on before every commit, so that no guard holds. */
function contended(times = Number.POSITIVE_INFINITY): (worker: () => TestWorker) => FaultInjector {
  let left = times;
  return (worker) =>
    async (call): Promise<Fault> => {
      if (call.caller !== 'commit' || left <= 0) return 'none';
      left -= 1;
      await worker().clients.dynamodb.send(
        new UpdateItemCommand({
          TableName: worker().names.tableName,
          Key: toItem({ ...aggregateKey('probe', '1') }),
          UpdateExpression: 'ADD revision :one',
          ExpressionAttributeValues: toItem({ ':one': 1 }),
        }),
      );
      return 'none';
    };
}
describe('a guard that does not hold', () => {
  const run = async (times?: number) => {
    let started: TestWorker | undefined;
    const worker = () => {
      if (started === undefined) throw new Error('the worker has not started yet');
      return started;
    };
    started = await startWorker({ messages: [applies], faults: contended(times)(worker) });
    await started.send(probeEnvelope());
    await started.untilIdle();
    return started;
  };

  it('leads back to Plan, and is no business attempt', async () => {
    const worker = await run(6);

    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED', attempts: 1 });
    expect(await worker.aggregate('probe', '1')).toMatchObject({ revision: 7, value: 1 });
    expect((await worker.execution(KEY)).states).not.toContain('RecordFailure');
  });

  it('waits between rounds after the third, and counts as an attempt after the tenth', async () => {
    const worker = await run(11);

    const { states } = await worker.execution(KEY);
    const before = states.slice(0, states.indexOf('RecordFailure'));
    expect(before.filter((name) => name === 'Plan')).toHaveLength(11);
    expect(before.filter((name) => name === 'BackOff')).toHaveLength(7);
    expect(await worker.inbox(KEY)).toMatchObject({
      status: 'COMPLETED',
      attempts: 2,
      failureCode: 'CONTENTION',
    });
  });
});

describe('another transaction in the way', () => {
  it('has Commit tried again in place five times, and only then planned anew', async () => {
    const invoked: string[] = [];
    const worker = await startWorker({
      messages: [applies],
      onInvoke: (name) => invoked.push(name),
      functions: {
        commit: {
          timeoutSeconds: 30,
          handler: () => {
            throw new RoutedError('CommitConflict');
          },
        },
      },
    });
    await worker.send(probeEnvelope());
    await worker.until(() => invoked.filter((name) => name === 'plan').length === 2);

    const first = invoked.slice(invoked.indexOf('plan') + 1, invoked.lastIndexOf('plan'));
    expect(first.filter((name) => name === 'commit')).toHaveLength(6);
  });
});
