import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { peek, redrive } from '../../../cli/commands/dlq.ts';
import { listInDoubt } from '../../../cli/commands/effects.ts';
import { ls } from '../../../cli/commands/ls.ts';
import { close, list } from '../../../cli/commands/quarantine.ts';
import { replay } from '../../../cli/commands/replay.ts';
import { send } from '../../../cli/commands/send.ts';
import { show } from '../../../cli/commands/show.ts';
import { toItem } from '../../../lambdas/aws/items.ts';
import { RetryableFailure } from '../../../lambdas/core/errors.ts';
import { defineMessage } from '../../../lambdas/core/message-type.ts';
import { attentionKey, effectRowKey, inboxKey } from '../../../lambdas/core/table.ts';
import { deadlineEnvelope } from '../../helpers/envelopes.ts';
import { startWorker, type TestWorker } from '../../helpers/worker.ts';
import { REPLAY_OPTIONS, targetOf, testIo } from './cli-io.ts';

const KEY = 'case:CASE-123:deadline:v4';

/** A type whose handler fails until it is mended. */
function breakable() {
  let broken = true;
  const definition = defineMessage({
    type: 'CaseDeadlineCalculationRequested',
    schemas: { 2: v.looseObject({}) },
    ordering: 'none',
    attempts: { max: 1 },
    plan() {
      if (broken) throw new RetryableFailure('BROKEN');
      return { set: { done: true } };
    },
  });
  return {
    definition,
    mend: () => {
      broken = false;
    },
  };
}

/** Lets virtual time pass until the command is through. */
async function drive<T>(worker: TestWorker, command: Promise<T>): Promise<T> {
  let done = false;
  const settled = command.finally(() => {
    done = true;
  });
  settled.catch(() => {});
  await worker.until(() => done);
  return settled;
}

async function withFailures(count: number) {
  const { definition, mend } = breakable();
  const worker = await startWorker({ messages: [definition] });
  for (let index = 0; index < count; index += 1) {
    await worker.send(deadlineEnvelope({ idempotencyKey: `k${index}`, aggregateId: `A${index}` }));
  }
  await worker.untilIdle();
  return { worker, mend, target: targetOf(worker), io: testIo({ clock: worker.clock }) };
}

describe('stepwell send', () => {
  it('sends nothing when one of several envelopes is wrong, and says which and why', async () => {
    const worker = await startWorker();
    const io = testIo();
    writeFileSync(join(io.cwd, 'm.json'), JSON.stringify([deadlineEnvelope(), { a: 1 }]));

    const sending = send('m.json', { raw: false, json: false }, targetOf(worker), io);

    await expect(sending).rejects.toThrow(/nothing was sent[\s\S]*message 2: \$\.messageId: is required/);
    expect(await worker.depth(worker.names.queueUrl)).toBe(0);
  });

  it('says which were sent and which not when the queue refuses a later one', async () => {
    const worker = await startWorker();
    const io = testIo();
    const keys = ['k1', 'k2', 'k3', 'k4'];
    const large = { payload: 'x'.repeat(1_100_000) };
    const envelopes = keys.map((idempotencyKey, index) =>
      deadlineEnvelope({
        idempotencyKey,
        messageId: idempotencyKey,
        ...(index === 2 ? { payload: large } : {}),
      }),
    );
    writeFileSync(join(io.cwd, 'm.json'), JSON.stringify(envelopes));

    const sending = send('m.json', { raw: false, json: true }, targetOf(worker), io);

    await expect(sending).rejects.toThrow(
      /message 3 \(k3\) was not sent: .*\nSent: 1 \(k1\), 2 \(k2\)\nNot sent: 3 \(k3\), 4 \(k4\)/,
    );
    await expect(sending).rejects.toMatchObject({ exitCode: 1 });
    expect(JSON.parse(io.lines[0] ?? '')).toMatchObject([
      { idempotencyKey: 'k1', messageId: expect.any(String) },
      { idempotencyKey: 'k2', messageId: expect.any(String) },
      { idempotencyKey: 'k3', notSent: true },
      { idempotencyKey: 'k4', notSent: true },
    ]);
    await worker.untilIdle();
    expect(await worker.executions()).toBe(2);
  });

  it('sends an envelope from standard input', async () => {
    const worker = await startWorker();
    const io = testIo({ readInput: async () => JSON.stringify(deadlineEnvelope()) });

    await send('-', { raw: false, json: false }, targetOf(worker), io);
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED' });
  });
});

describe('stepwell show', () => {
  it('puts the inbox row and the states of the execution together', async () => {
    const worker = await startWorker();
    await worker.send(deadlineEnvelope());
    await worker.untilIdle();
    const io = testIo();

    expect(await show(KEY, false, targetOf(worker), io)).toBe(0);

    expect(io.lines.join('\n')).toMatch(/status +COMPLETED[\s\S]*SUCCEEDED[\s\S]*Plan[\s\S]*Commit/);
  });

  it.each(['', '  '])('asks for a key when it is given "%s"', async (key) => {
    const worker = await startWorker();

    await expect(show(key, false, targetOf(worker), testIo())).rejects.toThrow('Give the idempotency key');
  });

  it('shows numbers beyond 2^53 as they are', async () => {
    const worker = await startWorker();
    const target = targetOf(worker);
    await worker.clients.dynamodb.send(
      new PutItemCommand({
        TableName: worker.names.tableName,
        Item: toItem({
          ...inboxKey('big', worker.names.workerName),
          status: 'RECEIVED',
          executionName: 'none',
          attempts: 9_007_199_254_740_993n,
        }),
      }),
    );
    const [people, programs] = [testIo(), testIo()];

    expect(await show('big', false, target, people)).toBe(0);
    expect(await show('big', true, target, programs)).toBe(0);

    expect(people.lines.join('\n')).toMatch(/attempts +9007199254740993/);
    expect(JSON.parse(programs.lines[0] ?? '').inbox.attempts).toBe('9007199254740993');
  });

  it('shows what would steer the terminal, and leaves it as it is for programs', async () => {
    const worker = await startWorker();
    const key = 'case:\u202Egnp.exe\u2028next';
    await worker.send(deadlineEnvelope({ idempotencyKey: key }));
    await worker.untilIdle();
    const [people, programs] = [testIo({ clock: worker.clock }), testIo()];

    await show(key, false, targetOf(worker), people);
    await show(key, true, targetOf(worker), programs);

    expect(people.lines.join('\n')).toContain('case:\\u202egnp.exe\\u2028next');
    expect(JSON.parse(programs.lines[0] ?? '').inbox.PK).toBe(`IDEMP#${key}`);
  });

  it('tells where to look when the key is not known', async () => {
    const worker = await startWorker();

    await expect(show('nope', false, targetOf(worker), testIo())).rejects.toMatchObject({ exitCode: 3 });
  });
});

describe('stepwell replay', () => {
  it('does nothing to a completed key and says so', async () => {
    const worker = await startWorker();
    await worker.send(deadlineEnvelope());
    await worker.untilIdle();
    const io = testIo({ clock: worker.clock });

    expect(await drive(worker, replay(KEY, REPLAY_OPTIONS, targetOf(worker), io))).toBe(0);
    expect(JSON.parse(io.lines[0] ?? '')).toMatchObject([{ key: KEY, result: 'ALREADY_COMPLETED' }]);
    expect(await worker.executions()).toBe(1);
  });

  it('stops after a sample of five out of twenty when the fix is not there', async () => {
    const { worker, target, io } = await withFailures(20);

    const code = await drive(
      worker,
      replay(undefined, { ...REPLAY_OPTIONS, code: 'BROKEN', sample: 5 }, target, io),
    );

    expect(code).toBe(1);
    expect(JSON.parse(io.lines[0] ?? '')).toHaveLength(5);
    expect(io.notes.join('\n')).toContain('15 are left');
  });

  it('replays all twenty when the sample is well', async () => {
    const { worker, mend, target, io } = await withFailures(20);
    mend();

    const code = await drive(
      worker,
      replay(undefined, { ...REPLAY_OPTIONS, code: 'BROKEN', sample: 5 }, target, io),
    );

    expect(code).toBe(0);
    expect(await worker.executions('SUCCEEDED')).toBe(20);
  });

  it('never replays more than --max', async () => {
    const { worker, mend, target, io } = await withFailures(6);
    mend();

    await drive(worker, replay(undefined, { ...REPLAY_OPTIONS, code: 'BROKEN', max: 4 }, target, io));

    expect(await worker.executions('SUCCEEDED')).toBe(4);
  });

  it('starts a new execution -r<n> with --new-definition', async () => {
    const { worker, mend, target, io } = await withFailures(1);
    mend();

    const code = await drive(worker, replay('k0', { ...REPLAY_OPTIONS, newDefinition: true }, target, io));

    expect(code).toBe(0);
    expect(await worker.execution('k0', 1)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await worker.inbox('k0')).toMatchObject({ status: 'COMPLETED' });
  });

  it('touches nothing in a dry run', async () => {
    const { worker, mend, target, io } = await withFailures(2);
    mend();

    await drive(worker, replay(undefined, { ...REPLAY_OPTIONS, code: 'BROKEN', dryRun: true }, target, io));

    expect(JSON.parse(io.lines[0] ?? '')).toMatchObject([{ would: 'redrive' }, { would: 'redrive' }]);
    expect(await worker.executions('FAILED')).toBe(2);
  });
});

describe('stepwell dlq', () => {
  it('shows a dead letter with its reason, leaves it, and sends it back on request', async () => {
    const worker = await startWorker();
    await worker.send('{bad');
    await worker.untilIdle();
    const io = testIo({ clock: worker.clock });

    await peek(10, true, targetOf(worker), io);
    expect(JSON.parse(io.lines[0] ?? '')).toMatchObject([{ code: 'INVALID_ENVELOPE' }]);
    expect(await worker.depth(worker.names.dlqUrl)).toBe(1);

    expect(await redrive({ sample: 1, json: true }, targetOf(worker), io)).toBe(0);
    expect(await worker.depth(worker.names.dlqUrl)).toBe(0);
  });
});

describe('stepwell effects ls', () => {
  it('lists the effects that are in doubt, with provider and operation', async () => {
    const worker = await startWorker();
    const io = testIo({ clock: worker.clock });
    const at = new Date(worker.clock.now()).toISOString();
    await worker.clients.dynamodb.send(
      new PutItemCommand({
        TableName: worker.names.tableName,
        Item: toItem({
          ...effectRowKey('k#notice'),
          status: 'IN_DOUBT',
          provider: 'post',
          operation: 'deliver',
          attention: attentionKey('IN_DOUBT', at, '0'),
          attentionAt: at,
        }),
      }),
    );

    expect(await listInDoubt({ since: '24h', json: true }, targetOf(worker), io)).toBe(0);

    expect(JSON.parse(io.lines[0] ?? '')).toEqual([
      { effect: 'k#notice', provider: 'post', operation: 'deliver', since: at },
    ]);
    expect(io.notes).toContain('Looked back 24h; --since looks back further');
  });
});

describe('stepwell quarantine and ls', () => {
  it('list an open case, and close it with a reason', async () => {
    const { target, io } = await withFailures(1);

    await list({ since: '24h', closed: false, json: true }, target, io);
    const [found] = JSON.parse(io.lines.at(-1) ?? '');
    expect(found).toMatchObject({ code: 'BROKEN', idempotencyKey: 'k0' });
    await ls({ since: '24h', json: true }, target, io);
    expect(JSON.parse(io.lines.at(-1) ?? '').executions).toMatchObject({ FAILED: '1' });

    expect(await close(found.id, { reason: 'known', by: 'me' }, target, io)).toBe(0);
    await list({ since: '24h', closed: false, json: true }, target, io);
    expect(JSON.parse(io.lines.at(-1) ?? '')).toEqual([]);
    await expect(close(found.id, { reason: 'again', by: 'me' }, target, io)).rejects.toMatchObject({
      exitCode: 3,
    });
  });
});
