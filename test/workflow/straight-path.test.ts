import { describe, expect, it } from 'vitest';
import type { Fault } from '../../local/edge/faults.ts';
import { deadlineEnvelope } from '../helpers/envelopes.ts';
import { expectInvariants } from '../helpers/invariants.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { startWorker } from '../helpers/worker.ts';

const KEY = 'case:CASE-123:deadline:v4';
const applies = probe(({ payload }) => ({ set: { value: Number(payload.value) } }));

describe('the straight path', () => {
  it('commits a message once, in two billed transitions', async () => {
    const worker = await startWorker();

    await worker.send(deadlineEnvelope());
    await worker.untilIdle();

    const execution = await worker.execution(KEY);
    expect(execution).toMatchObject({
      status: 'SUCCEEDED',
      states: ['Plan', 'Commit'],
      billedTransitions: 2,
    });
    expect(await worker.inbox(KEY)).toMatchObject({
      status: 'COMPLETED',
      outcome: 'APPLIED',
      attempts: 1,
      receiveCount: 1,
      resultRef: 'case/CASE-123/deadline',
    });
    expect(await worker.aggregate('case', 'CASE-123')).toMatchObject({
      revision: 1,
      'version#CaseDeadlineCalculationRequested': 4,
      deadlineAt: '2026-01-31T10:15:00.000Z',
    });
    await expectInvariants(worker, { keys: [KEY] });
  });

  it('writes no ttl before the status is final, and then at least 90 days', async () => {
    const worker = await startWorker({ messages: [applies] });
    await worker.send(probeEnvelope({ attemptPolicy: { notBefore: '2026-01-02T00:00:00Z' } }));
    await worker.until(async () => (await worker.inbox('probe:1')) !== undefined);
    expect(await worker.inbox('probe:1')).not.toHaveProperty('ttl');

    await worker.untilIdle();

    const ttl = Number((await worker.inbox('probe:1'))?.ttl);
    expect(ttl).toBeGreaterThan(worker.clock.now() / 1000 + 90 * 24 * 3600);
  });

  it('applies 20 messages of one aggregate that meet at their commits', async () => {
    // Every plan is made before the first commit.
    let waiting = 0;
    const all = Promise.withResolvers<void>();
    const worker = await startWorker({
      messages: [probe(({ aggregate }) => ({ set: { sum: Number(aggregate?.attributes.sum ?? 0) + 1 } }))],
      async faults({ caller }): Promise<Fault> {
        if (caller === 'commit' && waiting < 20) {
          waiting += 1;
          if (waiting === 20) all.resolve();
          await all.promise;
        }
        return 'none';
      },
    });
    const keys = Array.from({ length: 20 }, (_, index) => `probe:${index}`);

    for (const idempotencyKey of keys) await worker.send(probeEnvelope({ idempotencyKey }));
    await worker.untilIdle();

    expect(await worker.aggregate('probe', '1')).toMatchObject({ revision: 20, sum: 20 });
    await expectInvariants(worker, { keys });
  });

  it('supersedes an older version with a recorded no-op', async () => {
    const worker = await startWorker();
    await worker.send(deadlineEnvelope({ idempotencyKey: 'v7', aggregateVersion: 7 }));
    await worker.untilIdle();
    const before = await worker.aggregate('case', 'CASE-123');

    await worker.send(deadlineEnvelope({ messageId: 'late', idempotencyKey: 'v5', aggregateVersion: 5 }));
    await worker.untilIdle();

    expect(await worker.aggregate('case', 'CASE-123')).toEqual(before);
    expect(await worker.inbox('v5')).toMatchObject({ status: 'COMPLETED', outcome: 'SUPERSEDED' });
    expect(await worker.depth(worker.names.dlqUrl)).toBe(0);
    await expectInvariants(worker, { keys: ['v5', 'v7'] });
  });
});

describe('values of a plan, through Plan, the machine, Commit and DynamoDB', () => {
  it('arrive as they are documented', async () => {
    const worker = await startWorker({
      messages: [
        probe(() => ({
          set: {
            text: '',
            nothing: null,
            note: undefined,
            flag: false,
            when: new Date('2026-01-01T00:00:00Z'),
            exact: 12_345_678_901_234_567_890n,
            largest: Number.MAX_SAFE_INTEGER,
            small: 1e-130,
            fraction: 0.1,
            zero: -0,
            list: [1, 'a', null, [], {}],
            map: { inner: { note: undefined, kept: true }, constructor: 'x' },
          },
        })),
      ],
    });

    await worker.send(probeEnvelope());
    await worker.untilIdle();

    expect(await worker.aggregate('probe', '1')).toEqual({
      PK: 'PROBE#1',
      SK: 'META',
      revision: 1,
      text: '',
      nothing: null,
      flag: false,
      when: '2026-01-01T00:00:00.000Z',
      exact: 12_345_678_901_234_567_890n,
      largest: Number.MAX_SAFE_INTEGER,
      small: 1e-130,
      fraction: 0.1,
      zero: 0,
      list: [1, 'a', null, [], {}],
      map: { inner: { kept: true }, constructor: 'x' },
    });
  });

  it.each([
    ['NaN', Number.NaN, 'set.value: must be a finite number'],
    ['an infinity', Number.POSITIVE_INFINITY, 'set.value: must be a finite number'],
    [
      'a number that is not exact',
      1e21,
      'set.value: must not exceed 2^53 - 1 as a number (use a bigint, which is exact)',
    ],
    ['an invalid date', new Date(Number.NaN), 'set.value: must be a valid date'],
    ['undefined in a list', [1, undefined], 'set.value[1]: must not be undefined'],
    ['39 digits', 10n ** 38n, 'set.value: must have at most 38 digits'],
  ])('refuses %s and names the path', async (_what, value, rule) => {
    const worker = await startWorker({ messages: [probe(() => ({ set: { value } }))] });

    await worker.send(probeEnvelope());
    await worker.untilIdle();

    expect(await worker.inbox('probe:1')).toMatchObject({
      failureCode: 'PLAN_INVALID',
      failureMessage: rule,
      attempts: 1,
    });
  });
});
