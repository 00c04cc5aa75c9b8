import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { beginReplay } from '../../../cli/commands/begin-replay.ts';
import { forget } from '../../../cli/commands/forget.ts';
import { show } from '../../../cli/commands/show.ts';
import { TerminalFailure } from '../../../lambdas/core/errors.ts';
import { defineMessage } from '../../../lambdas/core/message-type.ts';
import { deadlineEnvelope } from '../../helpers/envelopes.ts';
import { startWorker } from '../../helpers/worker.ts';
import { targetOf, testIo } from './cli-io.ts';

const KEY = 'case:CASE-123:deadline:v4';
const options = { yes: true, keepAggregate: false, json: false };

describe('stepwell forget', () => {
  it('erases what is held of an aggregate and says how much', async () => {
    const worker = await startWorker();
    await worker.send(deadlineEnvelope());
    await worker.untilIdle();
    const io = testIo();

    expect(await forget('case/CASE-123', options, targetOf(worker), io)).toBe(0);

    expect(io.lines).toEqual([
      '1 messages forgotten, 2 rows deleted, 0 object versions erased, 0 dead letters and notices deleted',
    ]);
    expect(await worker.aggregate('case', 'CASE-123')).toBeUndefined();
    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED', forgottenAt: expect.any(String) });
  });

  it('answers 1 while a dead letter that it cannot read names the id', async () => {
    const worker = await startWorker();
    await worker.send('{"case": "CASE-123');
    await worker.untilIdle();
    const io = testIo();

    expect(await forget('case/CASE-123', options, targetOf(worker), io)).toBe(1);

    expect(io.lines[1]).toMatch(/name the id and are no envelopes/);
    expect(io.lines[2]).toContain(worker.names.dlqUrl);
  });

  it('answers 1 while a case whose body it cannot read names the id', async () => {
    const worker = await startWorker({ invalidMessages: 'quarantine' });
    await worker.send('{"case": "CASE-123');
    await worker.untilIdle();
    const io = testIo();

    expect(await forget('case/CASE-123', options, targetOf(worker), io)).toBe(1);

    expect(io.lines.join('\n')).toMatch(/stepwell quarantine show.*\n {2}\d{4}-\d\d-\d\d#[0-9a-f]\//);
  });

  it('says which messages are still being worked on, and answers 1', async () => {
    const worker = await startWorker();
    await worker.send(deadlineEnvelope({ attemptPolicy: { notBefore: '2026-01-02T00:00:00Z' } }));
    await worker.until(async () => (await worker.executions('RUNNING')) === 1);
    const io = testIo();

    expect(await forget('case/CASE-123', options, targetOf(worker), io)).toBe(1);

    expect(io.lines.at(-1)).toBe(`  ${KEY}`);
    await worker.untilIdle();
  });

  it('leaves a key that show tells to be forgotten, and that is not replayed', async () => {
    const failing = defineMessage({
      type: 'CaseDeadlineCalculationRequested',
      schemas: { 2: v.looseObject({}) },
      ordering: 'latest',
      plan: () => {
        throw new TerminalFailure('CASE_CLOSED');
      },
    });
    const worker = await startWorker({ messages: [failing] });
    await worker.send(deadlineEnvelope());
    await worker.untilIdle();
    const io = testIo();
    const target = targetOf(worker);
    const asked: unknown[] = [];
    worker.clients.sfn.middlewareStack.add(
      (handle, context) => async (args) => {
        asked.push(context.commandName);
        return handle(args);
      },
      { step: 'initialize', name: 'asked' },
    );
    await forget('case/CASE-123', options, target, io);
    io.lines.length = 0;

    expect(await show(KEY, false, target, io)).toBe(0);
    expect(io.lines.join('\n')).toMatch(/forgottenAt +\d{4}-/);
    expect(io.lines.join('\n')).not.toContain('execution ');

    const row = await worker.inbox(KEY);
    expect(await beginReplay(row ?? {}, { newDefinition: false }, target)).toEqual({
      result: 'NOT_POSSIBLE',
      detail: expect.stringContaining('forgotten'),
    });
    // Its execution's name is forgotten too: an ARN without one is refused.
    expect(asked).toEqual([]);
  });

  it.each([
    ['case/CASE-123', { ...options, yes: false }, /--yes/],
    ['CASE-123', options, /TYPE\/ID/],
    ['case/', options, /TYPE\/ID/],
  ])('does nothing with %s and %j', async (aggregate, given, message) => {
    const worker = await startWorker();

    await expect(forget(aggregate, given, targetOf(worker), testIo())).rejects.toThrow(message);
  });
});

describe('stepwell show', () => {
  it('finds a key that is known by its digest only', async () => {
    const sealed = defineMessage({
      type: 'CaseDeadlineCalculationRequested',
      schemas: { 2: v.looseObject({}) },
      ordering: 'latest',
      data: 'reference',
      plan: () => ({ set: { seen: true } }),
    });
    const worker = await startWorker({ messages: [sealed] });
    await worker.send(deadlineEnvelope());
    await worker.untilIdle();
    const io = testIo();

    expect(await show(KEY, true, targetOf(worker), io)).toBe(0);
    expect(JSON.parse(io.lines[0] ?? '').inbox).toMatchObject({ status: 'COMPLETED' });
  });
});
