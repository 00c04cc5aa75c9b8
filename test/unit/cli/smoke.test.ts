import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { list } from '../../../cli/commands/quarantine.ts';
import { type SmokeOptions, smoke } from '../../../cli/commands/smoke.ts';
import { main } from '../../../cli/main.ts';
import type { Target } from '../../../cli/target.ts';
import { defineProvider } from '../../../lambdas/core/provider.ts';
import { messages } from '../../../lambdas/messages/index.ts';
import { sequentialIds } from '../../helpers/ids.ts';
import { startWorker, type TestWorker } from '../../helpers/worker.ts';
import { targetOf, testIo } from './cli-io.ts';

const OPTIONS: SmokeOptions = { effects: false, wait: 300, json: true };

interface Report {
  readonly results: readonly { readonly name: string; readonly result?: string; readonly expects: string }[];
  readonly skipped: readonly { readonly name: string; readonly why: string }[];
  readonly casesClosed: number;
}

async function run(
  worker: TestWorker,
  options: Partial<SmokeOptions> = {},
  target: Target = targetOf(worker),
) {
  const io = testIo({ clock: worker.clock, newId: sequentialIds() });
  let done = false;
  const command = smoke({ ...OPTIONS, ...options }, target, io).finally(() => {
    done = true;
  });
  command.catch(() => {});
  await worker.until(() => done);
  const exitCode = await command;
  return { exitCode, io };
}

const reportOf = (io: { readonly lines: readonly string[] }): Report => JSON.parse(io.lines[0] ?? '{}');
const resultsOf = (io: { readonly lines: readonly string[] }) =>
  Object.fromEntries(reportOf(io).results.map(({ name, result }) => [name, result]));

const EXPECTED = {
  'a message': 'COMPLETED',
  'the same again': 'DUPLICATE',
  'same key, other content': 'REJECTED IDEMPOTENCY_HASH_MISMATCH',
  'an out-of-date version': 'SUPERSEDED',
  'version 2, before version 1': 'COMPLETED',
  'version 1, after it': 'COMPLETED',
  'invalid JSON': 'REJECTED INVALID_ENVELOPE',
  'a failure for good': 'QUARANTINED STAGE_UNKNOWN',
};

const payments = defineProvider({
  name: 'Payments',
  operations: {
    capture: {
      schema: v.looseObject({}),
      idempotent: true,
      execute: async () => ({ reference: 'capture-1' }),
      classify: () => ({ done: 'unknown', code: 'NO_ANSWER' }),
    },
  },
});

describe('stepwell smoke', () => {
  it.each([
    ['a standard queue', {}, {}],
    ['a FIFO queue', { fifo: true }, { 'a note in order of arrival': 'COMPLETED' }],
    ['invalid messages in the quarantine', { invalidMessages: 'quarantine' } as const, {}],
  ])('sees one message of each outcome come to it, with %s', async (_what, settings, besides) => {
    const worker = await startWorker(settings);

    const { exitCode, io } = await run(worker);

    expect(resultsOf(io)).toEqual({ ...EXPECTED, ...besides });
    expect(exitCode).toBe(0);
  });

  it('leaves no dead letter, no notice and no open case of its own, and all of others', async () => {
    const worker = await startWorker();
    const { dlqUrl, quarantineQueueUrl } = worker.names;
    await worker.clients.sqs.send(new SendMessageCommand({ QueueUrl: dlqUrl, MessageBody: 'of another' }));

    const { io } = await run(worker);

    expect(reportOf(io).casesClosed).toBe(1);
    await list({ since: '1h', closed: false, json: true }, targetOf(worker), io);
    expect(JSON.parse(io.lines.at(-1) ?? '')).toEqual([]);
    expect(await worker.depth(quarantineQueueUrl)).toBe(0);
    const late = worker.clock.now() + 10_000;
    void worker.clock.sleep(10_000);
    await worker.until(() => worker.clock.now() >= late);
    const { Messages = [] } = await worker.clients.sqs.send(
      new ReceiveMessageCommand({ QueueUrl: dlqUrl, MaxNumberOfMessages: 10 }),
    );
    expect(Messages.map(({ Body }) => Body)).toEqual(['of another']);
  });

  it('takes new keys in each run', async () => {
    const worker = await startWorker();
    const ids = sequentialIds();
    const first = testIo({ clock: worker.clock, newId: ids });
    const second = testIo({ clock: worker.clock, newId: ids });

    for (const io of [first, second]) {
      let done = false;
      const command = smoke(OPTIONS, targetOf(worker), io).finally(() => {
        done = true;
      });
      await worker.until(() => done);
      expect(await command).toBe(0);
    }
  });

  it('tells what came to something else, and answers 1', async () => {
    const worker = await startWorker({
      messages: messages.filter(({ type }) => type !== 'CaseStageChanged'),
    });

    const { exitCode, io } = await run(worker, { wait: 60 });

    expect(exitCode).toBe(1);
    expect(resultsOf(io)).toMatchObject({
      'a message': 'COMPLETED',
      'version 2, before version 1': 'REJECTED UNKNOWN_MESSAGE_TYPE',
    });
    expect(reportOf(io).results).toContainEqual(
      expect.objectContaining({ name: 'version 1, after it', detail: expect.stringContaining('not sent') }),
    );
  });

  it('sends a payment when it is asked to', async () => {
    const worker = await startWorker({ providers: [payments] });

    const { exitCode, io } = await run(worker, { effects: true });

    expect(exitCode).toBe(0);
    expect(resultsOf(io)).toMatchObject({ 'a payment of one cent': 'COMPLETED' });
  });

  it('says why effects are skipped', async () => {
    const worker = await startWorker();
    const without = { ...targetOf(worker), names: { ...worker.names, functions: {} } };

    const asked = await run(worker, { effects: true }, without);
    const unasked = await run(worker);

    const why = ({ io }: typeof asked) => reportOf(io).skipped.find(({ name }) => name === 'a payment')?.why;
    expect(why(asked)).toBe('the stack has no provider Payments');
    expect(why(unasked)).toContain('--effects');
  });

  it('ends without a stack trace when it is stopped', async () => {
    const worker = await startWorker();
    const { url } = await worker.listen();
    const signal = AbortSignal.abort(new Error('stopped by the user'));
    const io = testIo({ clock: worker.clock, newId: sequentialIds(), signal });

    expect(await main(['smoke', '--endpoint', url], io)).toBe(1);

    expect(io.notes.at(-1)).toBe('Stopped: what was begun goes on, and nothing more is begun.');
  });

  it('writes a table for people, with what is left and how to erase it', async () => {
    const worker = await startWorker();

    const { io } = await run(worker, { json: false });

    const text = io.lines.join('\n');
    expect(text).toMatch(
      /invalid JSON +REJECTED INVALID_ENVELOPE +found in the dead-letter queue, and removed/,
    );
    expect(text).toMatch(/a payment +skipped +/);
    expect(text).toMatch(/stepwell forget case\/SMOKE-.*-A --yes/);
  });
});
