import { StartExecutionCommand, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { describe, expect, it } from 'vitest';
import { RetryableFailure, TerminalFailure } from '../../lambdas/core/errors.ts';
import type { Fault } from '../../local/edge/faults.ts';
import { expectInvariants } from '../helpers/invariants.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { redrive } from '../helpers/replay.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

const KEY = 'probe:1';
const mended = probe(({ payload }) => ({ set: { value: Number(payload.value) } }));
const buggy = probe(() => {
  throw new TypeError('a bug');
});
const busy = probe(() => {
  throw new RetryableFailure('BUSY');
});
const never = probe(() => {
  throw new TerminalFailure('NEVER');
});

async function run(definition: typeof mended, envelope: Record<string, unknown> = {}): Promise<TestWorker> {
  const worker = await startWorker({ messages: [definition] });
  await worker.send(probeEnvelope(envelope));
  await worker.untilIdle();
  return worker;
}

/** The input of the key's execution, as the console's New execution takes it over. */
async function startByHand(
  worker: TestWorker,
  change: (input: Record<string, unknown>) => object,
  name: string,
) {
  const { arn } = await worker.execution(KEY);
  const history = worker.stepFunctions.history(arn) ?? [];
  const input: Record<string, unknown> = JSON.parse(String(history[0]?.details?.input));
  await worker.clients.sfn.send(
    new StartExecutionCommand({
      stateMachineArn: worker.names.stateMachineArn,
      name,
      input: JSON.stringify(change(input)),
    }),
  );
  await worker.untilIdle();
}

describe('a redrive', () => {
  it('succeeds once the handler is mended, with no tool but the console', async () => {
    const worker = await run(buggy);
    expect(await worker.execution(KEY)).toMatchObject({ status: 'FAILED', error: 'TypeError' });

    worker.deploy([mended]);
    await redrive(worker, KEY);

    const { status, states } = await worker.execution(KEY);
    expect(status).toBe('SUCCEEDED');
    expect(states.slice(-3)).toEqual(['ReportFailure', 'Plan', 'Commit']);
    const row = await worker.inbox(KEY);
    expect(row).toMatchObject({ status: 'COMPLETED', replays: 1, totalAttempts: 5, attempts: 1 });
    expect(row).not.toHaveProperty('attention');
    await expectInvariants(worker, { keys: [KEY] });
  });

  it('gives a fresh budget, and as many as there are redrives', async () => {
    const worker = await run(busy);

    await redrive(worker, KEY);
    await redrive(worker, KEY);

    const { states, status, error } = await worker.execution(KEY);
    expect({ status, error }).toEqual({ status: 'FAILED', error: 'BUSY' });
    expect(states.filter((name) => name === 'RecordFailure')).toHaveLength(15);
    expect(await worker.inbox(KEY)).toMatchObject({
      status: 'FAILED_TERMINAL',
      attempts: 5,
      totalAttempts: 10,
      replays: 2,
    });
    await expectInvariants(worker, { keys: [KEY] });
  });

  it('after an abort in BackOff goes on with the budget that is left', async () => {
    const worker = await startWorker({ messages: [busy] });
    await worker.send(probeEnvelope());
    const statesNow = async () =>
      (await worker.executions()) === 0 ? [] : (await worker.execution(KEY)).states;
    await worker.until(async () => (await statesNow()).filter((name) => name === 'BackOff').length === 3);
    const { arn } = await worker.execution(KEY);
    await worker.clients.sfn.send(new StopExecutionCommand({ executionArn: arn }));
    await worker.untilIdle();

    await redrive(worker, KEY);

    const { states } = await worker.execution(KEY);
    expect(states.filter((name) => name === 'RecordFailure')).toHaveLength(5);
    expect(await worker.inbox(KEY)).toMatchObject({ status: 'FAILED_TERMINAL', attempts: 5 });
  });

  it('of work that has meanwhile been completed changes nothing', async () => {
    const worker = await run(never);
    worker.deploy([mended]);
    await startByHand(worker, (input) => input, 'by-hand');
    const before = await worker.aggregate('probe', '1');

    await redrive(worker, KEY);

    const { status, states } = await worker.execution(KEY);
    expect(status).toBe('SUCCEEDED');
    expect(states.at(-1)).toBe('AlreadyCompleted');
    expect(await worker.aggregate('probe', '1')).toEqual(before);
    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED', executionName: 'by-hand' });
  });
});

describe('a second execution of a key', () => {
  it('started by hand after a failure commits once', async () => {
    const worker = await run(never);
    worker.deploy([mended]);

    await startByHand(worker, (input) => input, 'by-hand');
    await startByHand(worker, (input) => input, 'by-hand-again');

    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED' });
    expect(await worker.aggregate('probe', '1')).toMatchObject({ revision: 1, value: 1 });
    await expectInvariants(worker, { keys: [KEY] });
  });

  it.each([
    ['fails for a while', busy],
    ['fails for good', never],
  ])('that %s cannot overwrite COMPLETED', async (_how, failing) => {
    let commits: (() => Promise<void>) | undefined;
    const gate = { open: false };
    // The slow execution plans before the row is completed and records its failure afterwards.
    const definition = probe(({ envelope }) => {
      if (gate.open) return { set: { value: 1 } };
      return failing.plan({
        envelope,
        payload: {},
        aggregate: undefined,
        effects: {},
        reads: [],
        now: new Date(0),
      });
    });
    const worker = await startWorker({
      messages: [definition],
      async faults({ caller, service, operation }): Promise<Fault> {
        const records = caller === undefined && service === 'dynamodb' && operation === 'UpdateItem';
        if (records && commits !== undefined) {
          const now = commits;
          commits = undefined;
          await now();
        }
        return 'none';
      },
    });
    commits = async () => {
      gate.open = true;
      const { arn } = await worker.execution(KEY);
      const input = String(worker.stepFunctions.history(arn)?.[0]?.details?.input);
      const { executionArn = '' } = await worker.clients.sfn.send(
        new StartExecutionCommand({ stateMachineArn: worker.names.stateMachineArn, name: 'other', input }),
      );
      await worker.stepFunctions.settled(executionArn);
    };
    await worker.send(probeEnvelope());
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED', executionName: 'other' });
    expect(await worker.execution(KEY)).toMatchObject({ status: 'SUCCEEDED' });
    expect((await worker.execution(KEY)).states.at(-1)).toBe('AlreadyCompleted');
    expect(await worker.aggregate('probe', '1')).toMatchObject({ revision: 1 });
  });

  it('with another request ends without touching the row', async () => {
    const worker = await run(mended);
    const before = await worker.inbox(KEY);

    await startByHand(worker, (input) => ({ ...input, requestHash: 'f'.repeat(64) }), 'foreign');

    expect(await worker.inbox(KEY)).toEqual(before);
    expect(await worker.aggregate('probe', '1')).toMatchObject({ revision: 1 });
    expect(await worker.executions('FAILED')).toBe(1);
  });
});
