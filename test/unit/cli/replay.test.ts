import { StartExecutionCommand } from '@aws-sdk/client-sfn';
import { describe, expect, it } from 'vitest';
import { type ReplayOptions, replay } from '../../../cli/commands/replay.ts';
import { RetryableFailure, TerminalFailure } from '../../../lambdas/core/errors.ts';
import type { MessageDefinition } from '../../../lambdas/core/message-type.ts';
import { type ProbePayload, probe, probeEnvelope } from '../../helpers/probe.ts';
import { startWorker, type TestWorker } from '../../helpers/worker.ts';
import { REPLAY_OPTIONS, targetOf, testIo } from './cli-io.ts';

const DAY_MS = 24 * 3600 * 1000;

type Settings = Partial<Omit<MessageDefinition<ProbePayload>, 'schemas' | 'plan' | 'upcast'>>;
const failing = (settings: Settings = {}) =>
  probe(({ payload }) => {
    throw new TerminalFailure(String(payload.code ?? 'BROKEN'));
  }, settings);
const mended = (settings: Settings = {}) => probe(() => ({ set: { done: true } }), settings);

async function failed(envelopes: readonly Record<string, unknown>[], settings: Settings = {}) {
  const worker = await startWorker({ messages: [failing(settings)] });
  for (const envelope of envelopes) {
    await worker.send(probeEnvelope(envelope));
    await worker.untilIdle();
  }
  return worker;
}

async function run(worker: TestWorker, key: string | undefined, options: Partial<ReplayOptions> = {}) {
  const io = testIo({ clock: worker.clock });
  let done = false;
  const command = replay(key, { ...REPLAY_OPTIONS, ...options }, targetOf(worker), io).finally(() => {
    done = true;
  });
  command.catch(() => {});
  await worker.until(() => done);
  const exitCode = await command;
  const results: { key: string; result: string }[] = JSON.parse(io.lines[0] ?? '[]');
  return { exitCode, results, notes: io.notes };
}

async function pass(worker: TestWorker, milliseconds: number): Promise<void> {
  const due = worker.clock.now() + milliseconds;
  void worker.clock.sleep(milliseconds);
  await worker.until(() => worker.clock.now() >= due);
}

describe('stepwell replay', () => {
  it('replays the failed messages of an aggregate in the order of their versions', async () => {
    const settings = { ordering: 'latest' } as const;
    const versions = [10, 1, 2];
    const worker = await failed(
      versions.map((version) => ({ idempotencyKey: `v${version}`, aggregateVersion: version })),
      settings,
    );
    worker.deploy([mended(settings)]);

    const { exitCode, results } = await run(worker, undefined, { aggregate: 'probe/1' });

    expect(exitCode).toBe(0);
    expect(results.map(({ key }) => key)).toEqual(['v1', 'v2', 'v10']);
    expect(await worker.aggregate('probe', '1')).toMatchObject({ revision: 3 });
  });

  it('takes only the code and the time that were asked for', async () => {
    const worker = await failed([
      { idempotencyKey: 'old', payload: { code: 'BROKEN' } },
      { idempotencyKey: 'other', payload: { code: 'OTHER' } },
    ]);
    await pass(worker, 2 * DAY_MS);
    await worker.send(probeEnvelope({ idempotencyKey: 'new' }));
    await worker.untilIdle();
    worker.deploy([mended()]);

    expect((await run(worker, undefined, { code: 'BROKEN' })).results).toMatchObject([
      { key: 'new', result: 'SUCCEEDED' },
    ]);
    expect((await run(worker, undefined, { code: 'BROKEN', since: '7d' })).results).toMatchObject([
      { key: 'old', result: 'SUCCEEDED' },
    ]);
    expect(await worker.inbox('other')).toMatchObject({ status: 'FAILED_TERMINAL' });
  });

  it('goes on after a sample that failed when it is told to, and tells of its progress', async () => {
    const worker = await failed(['a', 'b', 'c', 'd'].map((idempotencyKey) => ({ idempotencyKey })));

    const { exitCode, results, notes } = await run(worker, undefined, {
      code: 'BROKEN',
      sample: 1,
      continue: true,
    });

    expect(exitCode).toBe(1);
    expect(results.map(({ result }) => result)).toEqual(['FAILED', 'FAILED', 'FAILED', 'FAILED']);
    expect(notes).toContain('3 of 3 have an outcome');
  });

  it('begins no more replays a second than it may', async () => {
    const worker = await failed(['a', 'b', 'c', 'd', 'e'].map((idempotencyKey) => ({ idempotencyKey })));
    worker.deploy([mended()]);
    const before = worker.clock.now();

    await run(worker, undefined, { code: 'BROKEN', rate: 0.5 });

    expect(worker.clock.now() - before).toBeGreaterThanOrEqual(8_000);
  });

  it('starts -r<n> when the time for a redrive is over, and the next free one after it', async () => {
    const worker = await failed([{ idempotencyKey: 'a' }]);
    const { arn } = await worker.execution('a');
    await worker.clients.sfn.send(
      new StartExecutionCommand({
        stateMachineArn: worker.names.stateMachineArn,
        name: `${arn.slice(arn.lastIndexOf(':') + 1)}-r1`,
        input: '{}',
      }),
    );
    await pass(worker, 15 * DAY_MS);
    worker.deploy([mended()]);

    expect(await run(worker, 'a')).toMatchObject({ exitCode: 0, results: [{ result: 'SUCCEEDED' }] });

    expect(await worker.execution('a', 2)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await worker.inbox('a')).toMatchObject({ status: 'COMPLETED' });
  });

  it.each([
    [
      'again',
      'by a new execution that has failed once since',
      { newDefinition: true },
      'retries',
      {},
      /-r1$/,
    ],
    [
      'anew',
      'by a new execution that has failed once since',
      { newDefinition: true },
      'retries',
      { newDefinition: true },
      /-r1$/,
    ],
    [
      'again',
      'by a new execution that has written nothing yet',
      { newDefinition: true },
      'parks',
      {},
      /-r1$/,
    ],
    [
      'anew',
      'by a new execution that has written nothing yet',
      { newDefinition: true },
      'parks',
      { newDefinition: true },
      /-r1$/,
    ],
    ['again', 'by a redrive', {}, 'parks', {}, /[0-9a-f]{32}$/],
    ['anew', 'by a redrive', {}, 'parks', { newDefinition: true }, /[0-9a-f]{32}$/],
  ] as const)(
    'refuses to replay a key %s that is under way %s',
    async (_how, _since, first, does, again, name) => {
      const ordered = { ordering: 'sequential', gapTimeoutSeconds: 60 } as const;
      const parks = mended({ ...ordered, gapTimeoutSeconds: 3600 });
      const worker = await failed([{ idempotencyKey: 'a', aggregateVersion: 2 }], ordered);
      const retries = probe(() => {
        throw new RetryableFailure('LATER');
      });
      worker.deploy([does === 'retries' ? retries : parks]);
      expect((await run(worker, 'a', { ...first, wait: 0 })).results).toMatchObject([{ result: 'RUNNING' }]);
      const executions = await worker.executions();

      const { exitCode, results } = await run(worker, 'a', { ...again, wait: 0 });

      expect(results).toMatchObject([
        { key: 'a', result: 'ALREADY_RUNNING', detail: expect.stringMatching(/under way/) },
      ]);
      expect(results).toMatchObject([{ detail: expect.stringMatching(name) }]);
      expect(exitCode).toBe(1);
      expect(await worker.executions()).toBe(executions);
      expect(await worker.executions('RUNNING')).toBe(1);
      await worker.untilIdle();
    },
  );

  it.each(['', ' '])('asks for a key when it is given "%s"', async (key) => {
    const worker = await startWorker({ messages: [mended()] });

    await expect(run(worker, key)).rejects.toThrow('Give the idempotency key');
  });

  it.each([
    ['nothing', undefined, {}],
    ['two ways at once', 'a', { code: 'BROKEN' }],
    ['an aggregate without a type', undefined, { aggregate: 'CASE-1' }],
    ['a time that is none', undefined, { code: 'BROKEN', since: 'yesterday' }],
  ])('refuses %s', async (_what, key, options) => {
    const worker = await startWorker({ messages: [mended()] });

    await expect(run(worker, key, options)).rejects.toMatchObject({ exitCode: 2 });
  });
});
