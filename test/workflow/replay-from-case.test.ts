import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { DescribeExecutionCommand } from '@aws-sdk/client-sfn';
import { describe, expect, it } from 'vitest';
import { replay } from '../../cli/commands/replay.ts';
import { toItem } from '../../lambdas/aws/items.ts';
import { RetryableFailure, TerminalFailure } from '../../lambdas/core/errors.ts';
import type { AnyMessageDefinition } from '../../lambdas/core/message-type.ts';
import { sealedKey } from '../../lambdas/core/seal.ts';
import { expectInvariants } from '../helpers/invariants.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { abort, cases, untilIn } from '../helpers/reconciler.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';
import { REPLAY_OPTIONS, targetOf, testIo } from '../unit/cli/cli-io.ts';

const KEY = 'probe:1';
const DAY_MS = 24 * 3600 * 1000;

const never = probe(() => {
  throw new TerminalFailure('NEVER');
});
const later = probe(() => {
  throw new RetryableFailure('LATER', { retryAfterSeconds: 60 });
});
const mended = probe(({ payload }) => ({ set: { length: String(payload.text).length } }));

async function pass(worker: TestWorker, milliseconds: number): Promise<void> {
  const due = worker.clock.now() + milliseconds;
  void worker.clock.sleep(milliseconds);
  await worker.until(() => worker.clock.now() >= due, milliseconds + 1_000);
}

async function replayed(worker: TestWorker, key: string) {
  const io = testIo({ clock: worker.clock });
  let done = false;
  const command = replay(key, REPLAY_OPTIONS, targetOf(worker), io).finally(() => {
    done = true;
  });
  await worker.until(() => done);
  const exitCode = await command;
  return { exitCode, results: JSON.parse(io.lines[0] ?? '[]') };
}

/** The input of the first execution, while Step Functions still knows it. */
async function inputOf(worker: TestWorker, key: string, replayNumber = 0): Promise<unknown> {
  const { arn } = await worker.execution(key, replayNumber);
  const { input = '' } = await worker.clients.sfn.send(new DescribeExecutionCommand({ executionArn: arn }));
  return JSON.parse(input);
}

describe('a replay after Step Functions has forgotten the execution', () => {
  const kinds: readonly (readonly [string, Partial<AnyMessageDefinition>, string, string])[] = [
    ['a message', {}, 'short', KEY],
    ['a message whose payload was put aside for its size', {}, 'x'.repeat(250_000), KEY],
    ['a message with personal data', { data: 'reference' }, 'short', sealedKey(KEY)],
  ];

  it.each(kinds)(
    'starts %s anew with the input that its case has kept',
    async (_what, settings, text, key) => {
      const worker = await startWorker({ messages: [{ ...never, ...settings }] });
      await worker.send(
        probeEnvelope({ payload: { text }, attemptPolicy: { terminalAfterCodes: ['NEVER', 'OTHER'] } }),
      );
      await worker.untilIdle();
      const before = await inputOf(worker, key);
      await pass(worker, 91 * DAY_MS);
      await expect(worker.execution(key)).rejects.toThrow(/does not exist/i);

      worker.deploy([{ ...mended, ...settings }]);
      expect(await replayed(worker, KEY)).toMatchObject({ exitCode: 0, results: [{ result: 'SUCCEEDED' }] });

      expect(await inputOf(worker, key, 1)).toEqual(before);
      expect(await worker.inbox(key)).toMatchObject({ status: 'COMPLETED' });
      expect(await worker.aggregate('probe', '1')).toMatchObject({ length: text.length });
    },
  );

  it('takes the case that the reconciler has made as well', async () => {
    const worker = await startWorker({ messages: [later] });
    await worker.send(probeEnvelope({ payload: { text: 'short' } }));
    await untilIn(worker, KEY, 'BackOff');
    const before = await inputOf(worker, KEY);
    await abort(worker, KEY);
    await worker.until(async () => (await worker.inbox(KEY))?.status === 'FAILED_TERMINAL');
    await pass(worker, 91 * DAY_MS);

    worker.deploy([mended]);
    expect(await replayed(worker, KEY)).toMatchObject({ exitCode: 0 });

    expect(await inputOf(worker, KEY, 1)).toEqual(before);
    await expectInvariants(worker, { keys: [KEY] });
  });

  it('says what is left to do when there is no case either', async () => {
    const worker = await startWorker({ messages: [never] });
    await worker.send(probeEnvelope());
    await worker.untilIdle();
    const [kept] = await cases(worker);
    await worker.clients.dynamodb.send(
      new PutItemCommand({
        TableName: worker.names.tableName,
        Item: toItem({ ...kept, input: undefined }),
      }),
    );
    await pass(worker, 91 * DAY_MS);

    expect(await replayed(worker, KEY)).toMatchObject({
      exitCode: 1,
      results: [{ result: 'NOT_POSSIBLE', detail: expect.stringContaining('under a new key') }],
    });
  });
});
