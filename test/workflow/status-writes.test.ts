import { DeleteItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import {
  DescribeExecutionCommand,
  RedriveExecutionCommand,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { describe, expect, it } from 'vitest';
import { toItem } from '../../lambdas/aws/items.ts';
import { RetryableFailure, TerminalFailure } from '../../lambdas/core/errors.ts';
import { inboxKey } from '../../lambdas/core/table.ts';
import type { Fault } from '../../local/edge/faults.ts';
import type { ServiceCall } from '../../local/edge/service-call.ts';
import { allRows, expectInvariants, inboxRows } from '../helpers/invariants.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { createLedger, ledgerProvider } from '../helpers/providers.ts';
import { cases } from '../helpers/reconciler.ts';
import { redrive } from '../helpers/replay.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

const KEY = 'probe:1';
const mended = probe(() => ({ set: { done: true } }));
const busy = probe(
  () => {
    throw new RetryableFailure('BUSY');
  },
  { attempts: { max: 2 } },
);
const never = probe(() => {
  throw new TerminalFailure('NEVER');
});

/** The state machine's own calls. */
const byMachine = (operation: string) => (call: ServiceCall) =>
  call.caller === undefined && call.service === 'dynamodb' && call.operation === operation;
const recordsFailure = byMachine('UpdateItem');
const quarantines = byMachine('TransactWriteItems');

async function startAs(worker: TestWorker, name: string, input: string): Promise<string> {
  const { executionArn = '' } = await worker.clients.sfn.send(
    new StartExecutionCommand({ stateMachineArn: worker.names.stateMachineArn, name, input }),
  );
  return executionArn;
}

async function inputOf(worker: TestWorker): Promise<string> {
  const { arn } = await worker.execution(KEY);
  const { input = '' } = await worker.clients.sfn.send(new DescribeExecutionCommand({ executionArn: arn }));
  return input;
}

const setOnRow = (worker: TestWorker, attribute: string, value: unknown) =>
  worker.clients.dynamodb.send(
    new UpdateItemCommand({
      TableName: worker.names.tableName,
      Key: toItem({ ...inboxKey(KEY, worker.names.workerName) }),
      UpdateExpression: 'SET #attribute = :value',
      ExpressionAttributeNames: { '#attribute': attribute },
      ExpressionAttributeValues: toItem({ ':value': value }),
    }),
  );

describe('attempts', () => {
  it.each([1, 3])('are spent once when RecordFailure’s answer is lost %i times', async (times) => {
    let left = times;
    const worker = await startWorker({
      messages: [busy],
      faults(call): Fault {
        if (left === 0 || !recordsFailure(call)) return 'none';
        left -= 1;
        return { after: 'timeout' };
      },
    });

    await worker.send(probeEnvelope());
    await worker.untilIdle();

    expect(left).toBe(0);
    expect(await worker.inbox(KEY)).toMatchObject({ attempts: 2, failureReason: 'ATTEMPTS_EXHAUSTED' });
    const { states } = await worker.execution(KEY);
    expect(states.filter((name) => name === 'RecordFailure')).toHaveLength(2);
  });

  it('of a replay -r1 start anew at its redrive, whatever the row counts', async () => {
    const worker = await startWorker({ messages: [busy] });
    await worker.send(probeEnvelope());
    await worker.untilIdle();
    await redrive(worker, KEY);
    const { arn } = await worker.execution(KEY);
    const replay = await startAs(worker, `${arn.slice(arn.lastIndexOf(':') + 1)}-r1`, await inputOf(worker));
    await worker.untilIdle();

    await worker.clients.sfn.send(new RedriveExecutionCommand({ executionArn: replay }));
    await worker.untilIdle();

    const entered = (worker.stepFunctions.history(replay) ?? []).filter(
      ({ type, details }) => type === 'TaskStateEntered' && details?.name === 'RecordFailure',
    );
    expect(entered).toHaveLength(4);
    expect(await worker.inbox(KEY)).toMatchObject({ status: 'FAILED_TERMINAL', attempts: 2 });
  });
});

describe('Quarantine', () => {
  it('cannot overwrite COMPLETED', async () => {
    let other: (() => Promise<void>) | undefined;
    let open = false;
    const worker = await startWorker({
      messages: [
        probe((input) => {
          if (open) return { set: { done: true } };
          return never.plan(input);
        }),
      ],
      async faults(call): Promise<Fault> {
        if (quarantines(call) && other !== undefined) {
          const now = other;
          other = undefined;
          await now();
        }
        return 'none';
      },
    });
    other = async () => {
      open = true;
      await worker.stepFunctions.settled(await startAs(worker, 'other', await inputOf(worker)));
    };

    await worker.send(probeEnvelope());
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED', executionName: 'other' });
    const { status, states } = await worker.execution(KEY);
    expect(status).toBe('SUCCEEDED');
    expect(states.slice(-4)).toEqual(['Quarantine', 'Plan', 'Commit', 'AlreadyCompleted']);
    expect(await cases(worker)).toEqual([]);
  });

  it('that is refused for long quarantines all the same, and tries nothing again', async () => {
    let handled = 0;
    let refusals = 8;
    const worker = await startWorker({
      messages: [
        probe((input) => {
          handled += 1;
          return never.plan(input);
        }),
      ],
      faults(call): Fault {
        if (refusals === 0 || !quarantines(call)) return 'none';
        refusals -= 1;
        return { before: { status: 400, code: 'TransactionCanceledException' } };
      },
    });

    await worker.send(probeEnvelope());
    await worker.untilIdle();

    expect(refusals).toBe(0);
    expect(handled).toBe(1);
    expect(await cases(worker)).toHaveLength(1);
    await expectInvariants(worker, { keys: [KEY] });
  });
});

describe('a failure whose row is gone', () => {
  it.each([
    ['fails for good', never],
    ['runs out of attempts', busy],
  ])('writes hash and identity anew when it %s', async (_how, definition) => {
    const source = await startWorker({ messages: [mended] });
    await source.send(probeEnvelope());
    await source.untilIdle();
    const input = await inputOf(source);
    const before = await source.inbox(KEY);
    const worker = await startWorker({ messages: [definition] });

    await startAs(worker, 'by-hand', input);
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toMatchObject({
      status: 'FAILED_TERMINAL',
      requestHash: before?.requestHash,
      messageType: 'Probe',
      aggregateType: 'probe',
      aggregateId: '1',
      firstSeenAt: expect.any(String),
    });
    await worker.send(probeEnvelope());
    await worker.untilIdle();
    expect(await worker.executions()).toBe(1);
    expect(await worker.depth(worker.names.dlqUrl)).toBe(0);
  });
});

describe('the hash', () => {
  it('is compared before any effect is carried out', async () => {
    const ledger = createLedger();
    const charging = probe(({ effects }) => ({
      effects: [{ name: 'charge', provider: 'Bank', operation: 'charge', request: { amount: 1 } }],
      set: { paid: effects.charge !== undefined },
    }));
    const worker = await startWorker({
      messages: [never],
      providers: [ledgerProvider('Bank', 'idempotent', ledger)],
    });
    await worker.send(probeEnvelope());
    await worker.untilIdle();
    const before = await worker.inbox(KEY);
    worker.deploy([charging]);

    const foreign = { ...JSON.parse(await inputOf(worker)), requestHash: 'f'.repeat(64) };
    const arn = await startAs(worker, 'foreign', JSON.stringify(foreign));
    await worker.untilIdle();

    expect(ledger.calls).toEqual([]);
    expect(await worker.inbox(KEY)).toEqual(before);
    const described = await worker.clients.sfn.send(new DescribeExecutionCommand({ executionArn: arn }));
    expect(described).toMatchObject({ status: 'FAILED', error: 'IDEMPOTENCY_HASH_MISMATCH' });
  });

  it('is of the message as it was sent: a large one sent again is no conflict', async () => {
    const worker = await startWorker({ messages: [mended], invalidReceives: 1 });
    const large = probeEnvelope({ payload: { text: 'x'.repeat(250_000) } });
    await worker.send(large);
    await worker.untilIdle();

    await worker.send(large);
    await worker.untilIdle();

    expect((await allRows(worker)).filter(({ SK }) => String(SK).startsWith('CONFLICT#'))).toEqual([]);
    expect(await worker.depth(worker.names.dlqUrl)).toBe(0);
    expect(await worker.executions()).toBe(1);
  });
});

describe('ttl', () => {
  it('comes with a final failure and goes with its replay', async () => {
    const worker = await startWorker({ messages: [never] });
    await worker.send(probeEnvelope());
    await worker.untilIdle();
    const ninetyDays = worker.clock.now() / 1000 + 90 * 24 * 3600;
    expect(Number((await worker.inbox(KEY))?.ttl)).toBeGreaterThan(ninetyDays);

    worker.deploy([busy]);
    const { arn } = await worker.execution(KEY);
    await worker.clients.sfn.send(new RedriveExecutionCommand({ executionArn: arn }));
    await worker.until(async () => (await worker.inbox(KEY))?.status === 'FAILED_RETRYABLE');

    expect(await worker.inbox(KEY)).not.toHaveProperty('ttl');
  });

  it('that has passed makes no difference while the row is still there', async () => {
    const worker = await startWorker({ messages: [mended] });
    await worker.send(probeEnvelope());
    await worker.untilIdle();
    await setOnRow(worker, 'ttl', Math.floor(worker.clock.now() / 1000) - 60);

    await worker.send(probeEnvelope());
    await worker.until(async () => (await worker.depth(worker.names.queueUrl)) === 0);

    expect(await worker.executions()).toBe(1);
    expect(await worker.aggregate('probe', '1')).toMatchObject({ revision: 1 });
  });
});

describe('a delivery that is counted', () => {
  it('brings no row back that has been removed meanwhile', async () => {
    const worker = await startWorker({
      messages: [mended],
      async faults({ caller, operation }): Promise<Fault> {
        if (caller === 'starter' && operation === 'UpdateItem') {
          await worker.clients.dynamodb.send(
            new DeleteItemCommand({
              TableName: worker.names.tableName,
              Key: toItem({ ...inboxKey(KEY, worker.names.workerName) }),
            }),
          );
        }
        return 'none';
      },
    });
    await worker.send(probeEnvelope({ attemptPolicy: { notBefore: '2026-01-01T01:00:00Z' } }));
    await worker.until(async () => (await worker.executions('RUNNING')) === 1);

    await worker.send(probeEnvelope({ attemptPolicy: { notBefore: '2026-01-01T01:00:00Z' } }));
    await worker.until(async () => (await worker.depth(worker.names.queueUrl)) === 0);

    expect(inboxRows(await allRows(worker))).toEqual([]);
    await worker.untilIdle();
    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED' });
  });
});

describe('the delay of a back-off', () => {
  it('is whole seconds whatever the failure and the policy ask for', async () => {
    const worker = await startWorker({
      messages: [
        probe(
          () => {
            throw new RetryableFailure('BUSY', { retryAfterSeconds: 1.4 });
          },
          { attempts: { max: 3, baseSeconds: 1, capSeconds: 1 } },
        ),
      ],
    });

    await worker.send(probeEnvelope());
    await worker.untilIdle();

    expect(await worker.inbox(KEY)).toMatchObject({ failureReason: 'ATTEMPTS_EXHAUSTED', attempts: 3 });
  });
});
