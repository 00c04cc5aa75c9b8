import { RedriveExecutionCommand } from '@aws-sdk/client-sfn';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { TerminalFailure } from '../../lambdas/core/errors.ts';
import { defineMessage } from '../../lambdas/core/message-type.ts';
import type { Fault } from '../../local/edge/faults.ts';
import { stageEnvelope } from '../helpers/envelopes.ts';
import { startWorker } from '../helpers/worker.ts';

const PARK_TIMEOUT_MILLIS = 900_000;
const keyOf = (version: number) => `case:CASE-123:stage:v${version}`;

function stages(onPredecessorFailure: 'block' | 'skip', broken: boolean) {
  return defineMessage({
    type: 'CaseStageChanged',
    schemas: { 1: v.object({ caseId: v.string(), stage: v.string() }) },
    ordering: 'sequential',
    onPredecessorFailure,
    failureCodes: ['BROKEN'],
    plan({ envelope, payload }) {
      if (broken && envelope.aggregateVersion === 1) throw new TerminalFailure('BROKEN', 'not yet mended');
      return { set: { stage: payload.stage } };
    },
  });
}

describe('the waker', () => {
  const deaths: [string, string, Fault][] = [
    ['before it answers a token', 'SendTaskSuccess', 'kill'],
    ['after it answered a token', 'SendTaskSuccess', { after: 'kill' }],
    ['before it deletes a waiter', 'DeleteItem', 'kill'],
    ['after it deleted a waiter', 'DeleteItem', { after: 'kill' }],
  ];
  it.each(deaths)(
    'loses no wake-up when it dies %s and its batches come twice',
    async (_when, call, fault) => {
      let left = 3;
      const worker = await startWorker({
        deliverChanges: () => 'twice',
        faults({ operation }) {
          if (operation !== call || left === 0) return 'none';
          left -= 1;
          return fault;
        },
      });

      for (const version of [5, 4, 3, 2, 1]) await worker.send(stageEnvelope(version));
      const startedAt = worker.clock.now();
      await worker.untilIdle();

      expect(left).toBe(0);
      expect(await worker.aggregate('case', 'CASE-123')).toMatchObject({
        revision: 5,
        'version#CaseStageChanged': 5,
      });
      expect(worker.clock.now() - startedAt).toBeLessThan(PARK_TIMEOUT_MILLIS);
    },
  );
});

describe('a predecessor in quarantine', () => {
  it('holds its successors with block, until its replay', async () => {
    const worker = await startWorker({ messages: [stages('block', true)] });
    for (const version of [1, 2, 3]) await worker.send(stageEnvelope(version));
    await worker.until(async () => (await worker.inbox(keyOf(1)))?.status === 'FAILED_TERMINAL');
    expect(await worker.aggregate('case', 'CASE-123')).toBeUndefined();

    worker.deploy([stages('block', false)]);
    const { arn } = await worker.execution(keyOf(1));
    await worker.until(async () => (await worker.execution(keyOf(1))).status === 'FAILED');
    await worker.clients.sfn.send(new RedriveExecutionCommand({ executionArn: arn }));
    await worker.untilIdle();

    expect(await worker.aggregate('case', 'CASE-123')).toMatchObject({
      revision: 3,
      'version#CaseStageChanged': 3,
    });
  });

  it('is stepped over with skip', async () => {
    const worker = await startWorker({ messages: [stages('skip', true)] });
    for (const version of [3, 2, 1]) await worker.send(stageEnvelope(version));
    await worker.untilIdle();

    expect(await worker.inbox(keyOf(1))).toMatchObject({ status: 'FAILED_TERMINAL', failureCode: 'BROKEN' });
    expect(await worker.aggregate('case', 'CASE-123')).toMatchObject({
      revision: 2,
      'version#CaseStageChanged': 3,
    });
  });
});

describe('a parked version', () => {
  it('is applied once when it is delivered again while it waits', async () => {
    const worker = await startWorker();
    for (const version of [2, 2, 1]) await worker.send(stageEnvelope(version));
    await worker.untilIdle();

    expect(await worker.aggregate('case', 'CASE-123')).toMatchObject({ revision: 2 });
    expect(await worker.executions()).toBe(2);
  });

  it('goes to one of two keys, and the other ends as a conflict', async () => {
    const worker = await startWorker();
    await worker.send(stageEnvelope(2));
    await worker.send(stageEnvelope(2, { messageId: 'other', idempotencyKey: 'other' }));
    await worker.send(stageEnvelope(1));
    await worker.untilIdle();

    const rows = [await worker.inbox(keyOf(2)), await worker.inbox('other')];
    expect(rows.map((row) => row?.status).sort()).toEqual(['COMPLETED', 'FAILED_TERMINAL']);
    expect(rows.find((row) => row?.status === 'FAILED_TERMINAL')).toMatchObject({
      failureCode: 'VERSION_CONFLICT',
    });
    expect(await worker.aggregate('case', 'CASE-123')).toMatchObject({ revision: 2 });
  });
});

describe('ordering none', () => {
  it('applies 50 messages that race for one aggregate, without a business attempt', async () => {
    const counter = defineMessage({
      type: 'Counted',
      schemas: { 1: v.object({}) },
      ordering: 'none',
      plan: ({ aggregate }) => ({ set: { count: Number(aggregate?.attributes.count ?? 0) + 1 } }),
    });
    const worker = await startWorker({ messages: [counter] });
    for (let index = 0; index < 50; index += 1) {
      await worker.send(
        stageEnvelope(1, {
          messageType: 'Counted',
          messageId: `m${index}`,
          idempotencyKey: `k${index}`,
          aggregateVersion: undefined,
          payload: {},
        }),
      );
    }
    await worker.untilIdle();

    expect(await worker.aggregate('case', 'CASE-123')).toMatchObject({ count: 50, revision: 50 });
    const rows = await Promise.all(Array.from({ length: 50 }, (_, index) => worker.inbox(`k${index}`)));
    expect(new Set(rows.map((row) => row?.attempts))).toEqual(new Set([1]));
  });
});

describe('a hundred messages of one aggregate', () => {
  it('cost no more transitions each when they arrive reversed than ten do', async () => {
    const worker = await startWorker();
    for (let version = 100; version > 0; version -= 1) await worker.send(stageEnvelope(version));
    await worker.untilIdle();

    expect(await worker.aggregate('case', 'CASE-123')).toMatchObject({
      revision: 100,
      'version#CaseStageChanged': 100,
    });
    for (let version = 1; version <= 100; version += 1) {
      expect((await worker.execution(keyOf(version))).billedTransitions).toBeLessThanOrEqual(6);
    }
  });
});
