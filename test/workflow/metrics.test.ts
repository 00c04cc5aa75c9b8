import { describe, expect, it, vi } from 'vitest';
import { createTelemetry } from '../../lambdas/aws/telemetry.ts';
import { RetryableFailure, TerminalFailure } from '../../lambdas/core/errors.ts';
import type { EffectRequest } from '../../lambdas/core/message-type.ts';
import { METRICS } from '../../lambdas/core/telemetry.ts';
import { emittedMetrics } from '../helpers/emf.ts';
import { EXPECTED_METRICS } from '../helpers/expected-metrics.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { createLedger, ledgerProvider } from '../helpers/providers.ts';
import { reconcile, SWEEP } from '../helpers/reconciler.ts';
import { redrive } from '../helpers/replay.ts';
import { startWorker } from '../helpers/worker.ts';

const sets = () => ({ set: { seen: true } });
const asks = (provider: string, rest: Partial<EffectRequest> = {}) => ({
  ...sets(),
  effects: [{ name: 'ask', provider, operation: 'charge', request: { amount: 1 }, ...rest }],
});
const throws = (...failures: readonly Error[]) => {
  const left = [...failures];
  return () => {
    const failure = left.shift();
    if (failure !== undefined) throw failure;
    return sets();
  };
};
const unready = throws(new RetryableFailure('NOT_YET'), new RetryableFailure('A_TYPING_ERROR'));
const refused = throws(new TerminalFailure('NEVER'));

const types = [
  probe(sets, { type: 'Plain' }),
  probe(sets, { type: 'Latest', ordering: 'latest' }),
  probe(sets, { type: 'Sequential', ordering: 'sequential', gapTimeoutSeconds: 60 }),
  probe(unready, { type: 'Unready', failureCodes: ['NOT_YET'] }),
  probe(refused, { type: 'Refused', failureCodes: ['NEVER'] }),
  probe(() => asks('Books', { cache: { key: 'question', ttlSeconds: 3600 } }), { type: 'Cached' }),
  probe(() => asks('Bank'), { type: 'Doubtful' }),
];

/** Keeps what is written to standard output and to standard error instead of writing it. */
function capture() {
  const written = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk) => {
      written[name] += String(chunk);
      return true;
    }),
  );
  return {
    lines: (name: keyof typeof written) => written[name].split('\n').filter((line) => line !== ''),
    end() {
      for (const spy of spies) spy.mockRestore();
    },
  };
}

/** Runs every kind of work once, the effect in doubt last: it waits for a person. */
async function runEverything() {
  vi.stubEnv('POWERTOOLS_SERVICE_NAME', 'stepwell');
  vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', 'Stepwell');
  const output = capture();
  try {
    const worker = await startWorker({
      messages: types,
      providers: [
        ledgerProvider('Books', 'harmless', createLedger()),
        ledgerProvider('Bank', 'neither', createLedger(['lostAfter'])),
      ],
      telemetry: createTelemetry({ RELEASE: 'test' }),
      maxInFlight: 20,
      startThrottle: { bucket: 5, refillPerSecond: 5 },
    });
    const send = (messageType: string, id: string, overrides: Record<string, unknown> = {}) =>
      worker.send(probeEnvelope({ messageType, idempotencyKey: id, aggregateId: id, ...overrides }));
    const run = async (...message: Parameters<typeof send>) => {
      await send(...message);
      await worker.untilIdle();
    };

    await run('Plain', 'plain');
    await run('Plain', 'plain');
    await run('Plain', 'plain', { payload: { value: 2 } });
    await worker.send('no envelope');
    await worker.untilIdle();
    await run('Latest', 'new', { aggregateId: 'latest', aggregateVersion: 2 });
    await run('Latest', 'old', { aggregateId: 'latest', aggregateVersion: 1 });
    await run('Unready', 'unready');
    await run('Sequential', 'sequential', { aggregateVersion: 2 });
    await run('Cached', 'first');
    await run('Cached', 'second');
    // Together, on one aggregate: they meet at the start's throttle and at the commit.
    const many = Array.from({ length: 10 }, (_, index) => `many-${index}`);
    for (const id of many) await send('Plain', id, { aggregateId: 'many' });
    await worker.untilIdle();
    await run('Refused', 'refused');
    await reconcile(worker, SWEEP);
    await redrive(worker, 'refused');
    await send('Doubtful', 'doubtful');
    await worker.until(async () => {
      const row = await worker.row({ PK: 'EFFECT#doubtful#ask', SK: 'LOG' });
      return row?.status === 'IN_DOUBT';
    });
    await worker.until(() => worker.inFlight() === 0);
  } finally {
    output.end();
    vi.unstubAllEnvs();
  }
  return { metrics: emittedMetrics(output.lines('stdout')), complaints: output.lines('stderr') };
}

let ran: ReturnType<typeof runEverything> | undefined;
const everything = () => {
  ran ??= runEverything();
  return ran;
};

describe('metrics in lines of the embedded metric format', () => {
  it.each(EXPECTED_METRICS)('give %s in %s by %o', async (name, unit, dimensions) => {
    const { metrics } = await everything();
    expect(metrics).toContainEqual({
      name,
      unit,
      namespace: 'Stepwell',
      dimensions: { service: 'stepwell', ...dimensions },
      values: expect.arrayContaining([expect.any(Number)]),
    });
  });

  it('give every metric that the worker knows, and each by the same dimensions always', async () => {
    const { metrics } = await everything();
    const named = (emitted: readonly { name: string; dimensions: object }[]) =>
      [
        ...new Set(emitted.map(({ name, dimensions }) => `${name} by ${Object.keys(dimensions).sort()}`)),
      ].sort();
    const expected = EXPECTED_METRICS.map(([name, , dimensions]) => ({
      name,
      dimensions: { service: '', ...dimensions },
    }));

    expect(named(metrics)).toEqual(named(expected));
    expect([...new Set(EXPECTED_METRICS.map(([name]) => name))].sort()).toEqual(Object.keys(METRICS).sort());
  });

  it('are written beside log lines in JSON, and nothing else', async () => {
    const { complaints } = await everything();
    expect(complaints.filter((line) => !line.startsWith('{'))).toEqual([]);
  });
});
