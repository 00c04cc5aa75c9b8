import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import {
  DescribeExecutionCommand,
  DescribeStateMachineCommand,
  ListExecutionsCommand,
  RedriveExecutionCommand,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { describe, expect, it } from 'vitest';
import { toItem } from '../../lambdas/aws/items.ts';
import { RetryableFailure, TerminalFailure } from '../../lambdas/core/errors.ts';
import { sealedKey } from '../../lambdas/core/seal.ts';
import { inboxKey } from '../../lambdas/core/table.ts';
import { SILENT } from '../../lambdas/core/telemetry.ts';
import type { Fault } from '../../local/edge/faults.ts';
import type { LocalRuntimeOptions } from '../../local/runtime.ts';
import { allRows } from '../helpers/invariants.ts';
import { probe, probeEnvelope } from '../helpers/probe.ts';
import { abort, announced, cases, closedEvent, reconcile, SWEEP, untilIn } from '../helpers/reconciler.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

const KEY = 'probe:1';
const applied = probe(() => ({ set: { done: true } }));
const failing = probe(() => {
  throw new RetryableFailure('NOT_YET', { retryAfterSeconds: 60 });
});
const refusing = probe(() => {
  throw new TerminalFailure('NEVER', 'it cannot be done');
});
const sequential = probe(() => ({ set: { done: true } }), {
  ordering: 'sequential',
  onPredecessorFailure: 'skip',
});
const hanging = { timeoutSeconds: 30, handler: () => new Promise<void>(() => {}) };

interface Interrupted {
  readonly state: string;
  readonly options: Partial<LocalRuntimeOptions>;
  readonly envelope?: Record<string, unknown>;
}

const INTERRUPTED: readonly Interrupted[] = [
  { state: 'Plan', options: { messages: [applied], functions: { plan: hanging } } },
  { state: 'Commit', options: { messages: [applied], functions: { commit: hanging } } },
  { state: 'BackOff', options: { messages: [failing] } },
  { state: 'Park', options: { messages: [sequential] }, envelope: { aggregateVersion: 2 } },
  {
    state: 'Defer',
    options: { messages: [applied] },
    envelope: { attemptPolicy: { notBefore: '2026-01-01T01:00:00Z' } },
  },
  { state: 'ReportFailure', options: { messages: [refusing], functions: { 'report-failure': hanging } } },
];

async function onlyExecution(worker: TestWorker): Promise<string | undefined> {
  const { executions = [] } = await worker.clients.sfn.send(
    new ListExecutionsCommand({ stateMachineArn: worker.names.stateMachineArn }),
  );
  return executions[0]?.executionArn;
}

describe('an aborted execution', () => {
  it.each(INTERRUPTED)(
    'leaves its work failed and quarantined when it stood in $state',
    async (interrupted) => {
      const worker = await startWorker(interrupted.options);
      await worker.send(probeEnvelope(interrupted.envelope));
      await untilIn(worker, KEY, interrupted.state);

      await abort(worker, KEY);
      await worker.untilIdle();
      await worker.until(async () => (await worker.inbox(KEY))?.status === 'FAILED_TERMINAL');

      const code = interrupted.state === 'ReportFailure' ? 'NEVER' : 'EXECUTION_ABORTED';
      expect(await worker.inbox(KEY)).toMatchObject({
        failureCode: code,
        attention: expect.stringMatching(/^FAILED_TERMINAL#2026-01-01#[0-9a-f]$/),
      });
      expect(await cases(worker)).toMatchObject([{ code, idempotencyKey: KEY }]);
      expect(await announced(worker)).toMatchObject([{ code, envelope: { idempotencyKey: KEY } }]);
      const left = (await allRows(worker)).filter(({ SK }) => /^(SKIP|WAITER)#/.test(String(SK)));
      expect(left).toEqual([]);
    },
  );

  it('of a type with personal data is quarantined by the digest of its key', async () => {
    const worker = await startWorker({ messages: [{ ...failing, data: 'reference' }] });
    await worker.send(probeEnvelope());
    const sealed = sealedKey(KEY);
    await worker.until(async () => (await worker.inbox(sealed))?.status === 'FAILED_RETRYABLE');

    await worker.clients.sfn.send(new StopExecutionCommand({ executionArn: await onlyExecution(worker) }));
    await worker.until(async () => (await worker.inbox(sealed))?.status === 'FAILED_TERMINAL');

    expect(await cases(worker)).toMatchObject([{ code: 'EXECUTION_ABORTED', idempotencyKey: sealed }]);
    expect(JSON.stringify([await cases(worker), await announced(worker)])).not.toContain(KEY);
  });

  it('of a type with personal data leaves no waiter when it was parked', async () => {
    const worker = await startWorker({ messages: [{ ...sequential, data: 'reference' }] });
    await worker.send(probeEnvelope({ aggregateVersion: 2 }));
    const waiters = async () =>
      (await allRows(worker)).filter(({ SK }) => String(SK).startsWith('WAITER#')).length;
    await worker.until(async () => (await waiters()) === 1);

    await worker.clients.sfn.send(new StopExecutionCommand({ executionArn: await onlyExecution(worker) }));
    await worker.until(async () => (await worker.inbox(sealedKey(KEY)))?.status === 'FAILED_TERMINAL');

    expect(await waiters()).toBe(0);
  });

  it('completes by a redrive, and its case is closed', async () => {
    const worker = await startWorker({ messages: [failing] });
    await worker.send(probeEnvelope());
    await untilIn(worker, KEY, 'BackOff');
    await abort(worker, KEY);
    await worker.until(async () => (await worker.inbox(KEY))?.status === 'FAILED_TERMINAL');

    worker.deploy([applied]);
    const { arn } = await worker.execution(KEY);
    await worker.clients.sfn.send(new RedriveExecutionCommand({ executionArn: arn }));
    await worker.untilIdle();
    await reconcile(worker, SWEEP);

    const inbox = await worker.inbox(KEY);
    expect(inbox).toMatchObject({ status: 'COMPLETED' });
    expect(inbox).not.toHaveProperty('attention');
    const [closed] = await cases(worker);
    expect(closed).toMatchObject({ closedBy: 'completed', closedAt: expect.any(String) });
    expect(closed).not.toHaveProperty('attention');
  });

  it('stays completed when it was aborted after its commit', async () => {
    let lost = false;
    const worker = await startWorker({
      messages: [applied],
      faults({ caller, operation }) {
        if (lost || caller !== 'commit' || operation !== 'TransactWriteItems') return 'none';
        lost = true;
        return { after: 'timeout' };
      },
    });
    await worker.send(probeEnvelope());
    await worker.until(async () => (await worker.inbox(KEY))?.status === 'COMPLETED');

    await abort(worker, KEY);
    await reconcile(worker, await closedEvent(worker, KEY));

    expect((await worker.execution(KEY)).status).toBe('ABORTED');
    expect(await worker.inbox(KEY)).toMatchObject({ status: 'COMPLETED' });
    expect(await cases(worker)).toEqual([]);
  });
});

describe('an execution that ends without its own doing', () => {
  it('is failed when the machine times out', async () => {
    const worker = await startWorker({
      messages: [sequential],
      numbers: { executionTimeoutSeconds: 3_600 },
    });

    await worker.send(probeEnvelope({ aggregateVersion: 2 }));
    await worker.until(async () => (await worker.inbox(KEY))?.status === 'FAILED_TERMINAL');

    expect(await worker.inbox(KEY)).toMatchObject({ failureCode: 'EXECUTION_TIMED_OUT' });
  });

  it('is failed under its own error when nothing could catch it', async () => {
    const worker = await startWorker({ messages: [failing] });
    const { definition = '' } = await worker.clients.sfn.send(
      new DescribeStateMachineCommand({ stateMachineArn: worker.names.stateMachineArn }),
    );
    worker.stepFunctions.updateStateMachine(
      worker.names.stateMachineArn,
      definition.replaceAll("$states.input.next = 'BackOff'", '$states.input.nothing.at.all'),
    );

    await worker.send(probeEnvelope());
    await worker.until(async () => (await worker.inbox(KEY))?.status === 'FAILED_TERMINAL');

    const { error } = await worker.execution(KEY);
    expect(error).toMatch(/^States\./);
    expect(await worker.inbox(KEY)).toMatchObject({ failureCode: error, attempts: 1 });
  });

  it('is quarantined with the attributes that the machine itself writes', async () => {
    const itself = await startWorker({ messages: [refusing] });
    await itself.send(probeEnvelope());
    await itself.untilIdle();
    const aborted = await startWorker({ messages: [failing] });
    await aborted.send(probeEnvelope());
    await untilIn(aborted, KEY, 'BackOff');
    await abort(aborted, KEY);
    await aborted.until(async () => (await aborted.depth(aborted.names.quarantineQueueUrl)) === 1);

    const shape = (row: object | undefined) => Object.keys(row ?? {}).sort();
    expect(shape((await cases(aborted))[0])).toEqual(shape((await cases(itself))[0]));
    expect(shape((await announced(aborted))[0])).toEqual(shape((await announced(itself))[0]));
    expect(shape(await aborted.inbox(KEY))).toEqual(shape(await itself.inbox(KEY)));
  });
});

describe('the sweep', () => {
  it('finds what no event told of', async () => {
    const worker = await startWorker({ messages: [failing], statusEvents: 'lose', sweepSeconds: 300 });
    for (const key of ['a', 'b']) await worker.send(probeEnvelope({ idempotencyKey: key }));
    for (const key of ['a', 'b']) await untilIn(worker, key, 'BackOff');

    for (const key of ['a', 'b']) await abort(worker, key);
    await worker.until(async () => (await cases(worker)).length === 2, 301_000);

    expect(await worker.inbox('a')).toMatchObject({ failureCode: 'EXECUTION_ABORTED' });
    expect(await worker.inbox('b')).toMatchObject({ failureCode: 'EXECUTION_ABORTED' });
  });

  it('looks again at what it could not settle', async () => {
    let refusals = 0;
    const worker = await startWorker({
      messages: [failing],
      statusEvents: 'lose',
      sweepSeconds: 300,
      faults({ caller, operation }) {
        if (caller !== 'reconciler' || operation !== 'TransactWriteItems' || refusals === 5) return 'none';
        refusals += 1;
        return { before: 500 };
      },
    });
    await worker.send(probeEnvelope());
    await untilIn(worker, KEY, 'BackOff');

    await abort(worker, KEY);
    await worker.until(async () => (await cases(worker)).length === 1, 6 * 301_000);

    expect(refusals).toBe(5);
  });
});

describe('open cases', () => {
  it('are counted at every sweep until they are closed', async () => {
    const counts: number[] = [];
    const worker = await startWorker({
      messages: [refusing],
      telemetry: {
        ...SILENT,
        metric(name, value) {
          if (name === 'OpenCases') counts.push(value);
        },
      },
    });
    for (const key of ['a', 'b']) await worker.send(probeEnvelope({ idempotencyKey: key }));
    await worker.untilIdle();
    await reconcile(worker, SWEEP);

    worker.deploy([applied]);
    const { arn } = await worker.execution('a');
    await worker.clients.sfn.send(new RedriveExecutionCommand({ executionArn: arn }));
    await worker.untilIdle();
    await reconcile(worker, SWEEP);

    expect(counts).toEqual([2, 1]);
  });
});

describe('an event that comes late or from elsewhere', () => {
  it('changes nothing while the execution, redriven since, runs', async () => {
    const worker = await startWorker({ messages: [failing], statusEvents: 'lose' });
    await worker.send(probeEnvelope());
    await untilIn(worker, KEY, 'BackOff');
    await abort(worker, KEY);
    const { arn } = await worker.execution(KEY);
    await worker.clients.sfn.send(new RedriveExecutionCommand({ executionArn: arn }));

    await reconcile(worker, await closedEvent(worker, KEY));

    expect(await worker.inbox(KEY)).toMatchObject({ status: 'FAILED_RETRYABLE' });
    expect(await cases(worker)).toEqual([]);
  });

  it('changes nothing while a replay under another name runs', async () => {
    const worker = await startWorker({ messages: [refusing] });
    await worker.send(probeEnvelope());
    await worker.untilIdle();
    const event = await closedEvent(worker, KEY);
    worker.deploy([failing]);
    const { input = '' } = await worker.clients.sfn.send(
      new DescribeExecutionCommand({ executionArn: event.detail.executionArn }),
    );
    await worker.clients.sfn.send(
      new StartExecutionCommand({
        stateMachineArn: worker.names.stateMachineArn,
        name: `${event.detail.name}-r1`,
        input,
      }),
    );
    await worker.until(async () => (await worker.inbox(KEY))?.status === 'FAILED_RETRYABLE');

    await reconcile(worker, event);

    expect(await worker.inbox(KEY)).toMatchObject({
      status: 'FAILED_RETRYABLE',
      executionName: `${event.detail.name}-r1`,
    });
    expect(await cases(worker)).toHaveLength(1);
  });

  it('changes nothing when a replay begins between the reading and the writing', async () => {
    const worker = await startWorker({
      messages: [failing],
      statusEvents: 'lose',
      async faults({ caller, operation }): Promise<Fault> {
        if (caller === 'reconciler' && operation === 'TransactWriteItems') {
          await worker.clients.dynamodb.send(
            new UpdateItemCommand({
              TableName: worker.names.tableName,
              Key: toItem({ ...inboxKey(KEY, worker.names.workerName) }),
              UpdateExpression: 'SET #status = :processing',
              ExpressionAttributeNames: { '#status': 'status' },
              ExpressionAttributeValues: toItem({ ':processing': 'PROCESSING' }),
            }),
          );
        }
        return 'none';
      },
    });
    await worker.send(probeEnvelope());
    await untilIn(worker, KEY, 'BackOff');
    await abort(worker, KEY);

    await reconcile(worker, await closedEvent(worker, KEY));

    expect(await worker.inbox(KEY)).toMatchObject({ status: 'PROCESSING' });
    expect(await cases(worker)).toEqual([]);
  });

  it('changes nothing when the execution has another input or is unknown', async () => {
    const worker = await startWorker({ messages: [applied] });
    const { executionArn = '' } = await worker.clients.sfn.send(
      new StartExecutionCommand({
        stateMachineArn: worker.names.stateMachineArn,
        name: 'by-hand',
        input: '{}',
      }),
    );
    await worker.until(async () => (await worker.executions('RUNNING')) === 0);

    const event = { source: 'aws.states', detail: { executionArn, name: 'by-hand', input: '{}' } };
    await reconcile(worker, event);
    await reconcile(worker, { ...event, detail: { ...event.detail, executionArn: `${executionArn}-2` } });

    expect(await allRows(worker)).toEqual([]);
  });

  it.each([
    ['before', 'kill'],
    ['after', { after: 'kill' }],
  ] as const)(
    'ends the work however often the reconciler dies, %s each of its calls',
    async (_when, fault) => {
      const died: string[] = [];
      const worker = await startWorker({
        messages: [failing],
        faults({ caller, operation }) {
          if (caller !== 'reconciler' || died.includes(operation)) return 'none';
          died.push(operation);
          return fault;
        },
      });
      await worker.send(probeEnvelope());
      await untilIn(worker, KEY, 'BackOff');

      await abort(worker, KEY);
      for (let event = 0; event < 3; event += 1) {
        await reconcile(worker, await closedEvent(worker, KEY)).catch(() => {});
      }
      await worker.until(async () => (await worker.inbox(KEY))?.status === 'FAILED_TERMINAL');

      expect(died).toEqual(
        expect.arrayContaining(['DescribeExecution', 'BatchGetItem', 'TransactWriteItems']),
      );
      expect(await cases(worker)).toHaveLength(1);
    },
  );

  it('makes one case of two at once', async () => {
    const worker = await startWorker({ messages: [failing], statusEvents: 'lose' });
    await worker.send(probeEnvelope());
    await untilIn(worker, KEY, 'BackOff');
    await abort(worker, KEY);
    const event = await closedEvent(worker, KEY);

    await Promise.allSettled([reconcile(worker, event), reconcile(worker, event), reconcile(worker, SWEEP)]);
    await reconcile(worker, event);

    expect(await cases(worker)).toHaveLength(1);
    expect(await announced(worker)).toHaveLength(1);
  });
});
