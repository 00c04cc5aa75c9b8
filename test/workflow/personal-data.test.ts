import { PutObjectCommand } from '@aws-sdk/client-s3';
import { DescribeExecutionCommand, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { forgetAggregate } from '../../lambdas/aws/forget.ts';
import { TerminalFailure } from '../../lambdas/core/errors.ts';
import { sha256 } from '../../lambdas/core/identity.ts';
import { defineMessage } from '../../lambdas/core/message-type.ts';
import { sealedKey } from '../../lambdas/core/seal.ts';
import type { Fault, FaultInjector } from '../../local/edge/faults.ts';
import { everything, forgetDeps, histories, objects, received, recorder, rows } from '../helpers/held.ts';
import { allRows } from '../helpers/invariants.ts';
import { redrive } from '../helpers/replay.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

const CANARY = 'canary7f3a';

const personNoted = defineMessage({
  type: 'PersonNoted',
  schemas: { 1: v.object({ name: v.string(), fail: v.boolean() }) },
  ordering: 'latest',
  data: 'reference',
  executionNames: 'digest',
  attempts: { max: 1 },
  plan({ envelope, payload }) {
    if (payload.fail) throw new TerminalFailure('NOT_ALLOWED', `${payload.name} must not be noted`);
    return {
      set: { name: payload.name },
      writes: [{ key: { PK: `NOTE#${envelope.aggregateId}`, SK: 'TEXT' }, put: { about: payload.name } }],
      events: [
        {
          messageType: 'PersonWasNoted',
          idempotencyKey: `${envelope.idempotencyKey}:noted`,
          aggregateType: envelope.aggregateType,
          aggregateId: envelope.aggregateId,
          payload: { name: payload.name },
        },
      ],
      resultRef: `person/${payload.name}`,
    };
  },
});

/** An envelope with the canary in every field that takes free text. */
const envelope = (version: number, fail: boolean) => ({
  messageId: `${CANARY} m${version}`,
  schemaVersion: 1,
  messageType: 'PersonNoted',
  producer: `${CANARY} producer`,
  occurredAt: '2026-01-01T00:00:00Z',
  idempotencyKey: `${CANARY} key ${version}`,
  aggregateType: 'PERSON',
  aggregateId: `${CANARY} id`,
  aggregateVersion: version,
  tenantId: `${CANARY} tenant`,
  causationId: `${CANARY} cause`,
  correlationId: `${CANARY} correlation`,
  attemptPolicy: { terminalAfterCodes: [`${CANARY} code`] },
  payload: { name: `${CANARY} name`, fail },
});

async function startBoth() {
  const { lines, telemetry } = recorder();
  const worker = await startWorker({ messages: [personNoted], telemetry });
  await worker.send(envelope(1, false));
  await worker.send(envelope(1, false));
  await worker.send(envelope(2, true));
  await worker.send({ ...envelope(2, true), payload: { name: `${CANARY} other`, fail: true } });
  await worker.untilIdle();
  return { worker, lines };
}

describe('a type whose data is a reference', () => {
  it('does its work as any other', async () => {
    const { worker } = await startBoth();

    expect(await worker.aggregate('person', `${CANARY} id`)).toMatchObject({
      name: `${CANARY} name`,
      revision: 1,
    });
    expect(await worker.inbox(sealedKey(`${CANARY} key 1`))).toMatchObject({
      status: 'COMPLETED',
      receiveCount: 2,
      resultRef: `person/${CANARY} name`,
    });
    expect(await worker.inbox(sealedKey(`${CANARY} key 2`))).toMatchObject({
      status: 'FAILED_TERMINAL',
      failureCode: 'NOT_ALLOWED',
    });
  });

  it('writes nothing under a digest where nobody waits, as with the latest version', async () => {
    const { worker } = await startBoth();

    const items = (await allRows(worker)).filter(({ SK }) => SK === 'META');
    expect(items.map(({ PK }) => PK)).toEqual([`PERSON#${CANARY} id`]);
  });

  it('leaves its free texts in no log line, metric, history, notification or attribute', async () => {
    const { worker, lines } = await startBoth();

    expect(lines.length).toBeGreaterThan(10);
    expect(lines.filter((line) => line.includes(CANARY))).toEqual([]);
    expect(await histories(worker)).not.toContain(CANARY);
    const quarantined = await received(worker, worker.names.quarantineQueueUrl);
    expect(quarantined).toHaveLength(1);
    expect(JSON.stringify(quarantined)).not.toContain(CANARY);
    const rejected = await received(worker, worker.names.dlqUrl);
    expect(rejected).toHaveLength(1);
    expect(JSON.stringify(rejected.map(({ Body: _, ...attributes }) => attributes))).not.toContain(CANARY);
  });

  it.each([
    ['is there', true, { status: 'COMPLETED' }],
    ['never appears', false, { status: 'FAILED_TERMINAL', failureCode: 'PAYLOAD_NOT_FOUND' }],
  ])('shows nothing of a payload by reference, when the object %s', async (_what, isThere, row) => {
    const { lines, telemetry } = recorder();
    const worker = await startWorker({ messages: [personNoted], telemetry });
    const content = JSON.stringify({ name: `${CANARY} name`, fail: false });
    const bucket = worker.names.payloadBucket;
    const key = `${CANARY}/scan`;
    if (isThere) {
      await worker.clients.s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: content }));
    }

    const { payload: _, ...rest } = envelope(1, false);
    await worker.send({ ...rest, payloadRef: { bucket, key, sha256: sha256(content) } });
    await worker.untilIdle();

    expect(await worker.inbox(sealedKey(`${CANARY} key 1`))).toMatchObject(row);
    expect(await histories(worker)).not.toContain(CANARY);
    expect(lines.filter((line) => line.includes(CANARY))).toEqual([]);
    expect(JSON.stringify(await received(worker, worker.names.quarantineQueueUrl))).not.toContain(CANARY);
  });

  it('keeps the failure’s text where only the row says', async () => {
    const { worker } = await startBoth();

    const row = await worker.inbox(sealedKey(`${CANARY} key 2`));
    const key = String(row?.failureMessage).replace(`kept in s3://${worker.names.payloadBucket}/`, '');
    expect(await objects(worker)).toContain(`${key} ${CANARY} name must not be noted`);
  });
});

describe('an ordered type whose data is a reference', () => {
  const ordered = (onPredecessorFailure: 'block' | 'skip') =>
    ({ ...personNoted, ordering: 'sequential', onPredecessorFailure }) as const;

  it('parks, and skips a failed predecessor, with its free texts in no history or line', async () => {
    const { lines, telemetry } = recorder();
    const worker = await startWorker({ messages: [ordered('skip')], telemetry });

    await worker.send(envelope(2, false));
    await worker.until(async () => (await rows(worker)).some((row) => row.includes('WAITER#')));
    await worker.send(envelope(1, true));
    await worker.untilIdle();

    expect(await worker.inbox(sealedKey(`${CANARY} key 1`))).toMatchObject({ failureCode: 'NOT_ALLOWED' });
    expect(await worker.inbox(sealedKey(`${CANARY} key 2`))).toMatchObject({ status: 'COMPLETED' });
    expect((await rows(worker)).some((row) => row.includes('SKIP#'))).toBe(true);
    const history = await histories(worker);
    expect(history).toContain('Park');
    expect(history).not.toContain(CANARY);
    expect(lines.filter((line) => line.includes(CANARY))).toEqual([]);
  });

  it('is woken by the commit before it, and not by the time-out of parking', async () => {
    const worker = await startWorker({ messages: [ordered('block')] });
    await worker.send(envelope(1, false));
    await worker.untilIdle();
    const began = worker.clock.now();

    await worker.send(envelope(4, false));
    await worker.send(envelope(3, false));
    await worker.until(
      async () => (await rows(worker)).filter((row) => row.includes('WAITER#')).length === 2,
    );
    await worker.send(envelope(2, false));
    await worker.untilIdle();

    for (const version of [2, 3, 4]) {
      expect(await worker.inbox(sealedKey(`${CANARY} key ${version}`))).toMatchObject({
        status: 'COMPLETED',
      });
    }
    expect(worker.clock.now() - began).toBeLessThan(60_000);
    expect(await histories(worker)).not.toContain(CANARY);
  });

  it('shares its stream with no type whose data is inline', async () => {
    const inline = { ...ordered('block'), type: 'PersonSeen', data: 'inline', stream: 'person' } as const;

    await expect(
      startWorker({ messages: [{ ...ordered('block'), stream: 'person' }, inline] }),
    ).rejects.toThrow(/one setting of data/);
  });
});

describe('a type whose data is inline', () => {
  it('has its payload and its failure’s text in no log line or metric', async () => {
    const { lines, telemetry } = recorder();
    const inline = { ...personNoted, data: 'inline' as const };
    const worker = await startWorker({ messages: [inline], telemetry });

    await worker.send({
      ...envelope(1, false),
      idempotencyKey: 'k1',
      aggregateId: 'a',
      tenantId: 't',
      correlationId: 'c',
    });
    await worker.send({
      ...envelope(2, true),
      idempotencyKey: 'k2',
      aggregateId: 'a',
      tenantId: 't',
      correlationId: 'c',
    });
    await worker.send(`{"broken": "${CANARY}`);
    await worker.untilIdle();

    expect(lines.length).toBeGreaterThan(10);
    expect(lines.filter((line) => line.includes(CANARY))).toEqual([]);
  });
});

describe('a type whose execution names are digests', () => {
  it('shows key and aggregate in no name and no line of the starter', async () => {
    const { lines, telemetry } = recorder();
    const digest = { ...personNoted, data: 'inline' as const, executionNames: 'digest' as const };
    const worker = await startWorker({ messages: [digest], telemetry });

    await worker.send({ ...envelope(1, false), tenantId: 't', correlationId: 'c' });
    await worker.untilIdle();

    const row = await worker.inbox(`${CANARY} key 1`);
    expect(row).toMatchObject({
      status: 'COMPLETED',
      executionName: expect.stringMatching(/^key-[0-9a-f]{32}$/),
    });
    expect(lines.filter((line) => line.includes(CANARY))).toEqual([]);
  });
});

describe('forgetAggregate', () => {
  const request = {
    aggregateType: 'person',
    aggregateId: `${CANARY} id`,
    now: new Date('2026-02-01T00:00:00Z'),
  };
  const forget = (worker: TestWorker, overrides: { keepAggregate?: boolean } = {}) =>
    forgetAggregate({ ...request, ...overrides }, forgetDeps(worker));

  it('leaves the texts nowhere but in rows that the team wrote under keys of its own', async () => {
    const { worker, lines } = await startBoth();
    await worker.send({ ...envelope(3, false), unknownField: `${CANARY} extra` });
    await worker.untilIdle();
    expect((await rows(worker)).some((row) => row.includes(CANARY))).toBe(true);
    expect((await objects(worker)).some((object) => object.includes(CANARY))).toBe(true);
    expect(await worker.depth(worker.names.dlqUrl)).toBe(2);

    const report = await forget(worker);

    expect(report).toMatchObject({ tombstones: 2, messages: 3, suspects: [], unseen: 0, unfinished: [] });
    expect(await objects(worker)).toEqual([]);
    const left = (await everything(worker, lines)).filter((text) => text.includes(CANARY));
    expect(left.filter((text) => !text.includes('NOTE#'))).toEqual([]);
    expect(left).toHaveLength(1);
  });

  it('leaves the texts nowhere after executions that parked, and that were skipped', async () => {
    const { lines, telemetry } = recorder();
    const ordered = { ...personNoted, ordering: 'sequential', onPredecessorFailure: 'skip' } as const;
    const worker = await startWorker({ messages: [ordered], telemetry });
    await worker.send(envelope(2, false));
    await worker.until(async () => (await rows(worker)).some((row) => row.includes('WAITER#')));
    await worker.send(envelope(1, true));
    await worker.untilIdle();

    await forget(worker);

    const left = (await everything(worker, lines)).filter((text) => text.includes(CANARY));
    expect(left.every((text) => text.includes('NOTE#'))).toBe(true);
    expect((await rows(worker)).filter((row) => row.includes('PERSON#sha256-'))).toEqual([]);
  });

  it('leaves dead letters of others, and names those that name the id and are no envelopes', async () => {
    const { worker } = await startBoth();
    await worker.send({ ...envelope(9, false), aggregateId: 'other', extra: 1 });
    await worker.send(`{"broken": "${CANARY} id`);
    await worker.send('{"broken": ');
    // What came by SNS and by EventBridge, and is read by no source of this worker.
    await worker.send({ Type: 'Notification', Message: JSON.stringify(envelope(10, false)) });
    await worker.send({ 'detail-type': 'Person', detail: envelope(11, false) });
    await worker.untilIdle();

    const report = await forget(worker);

    expect(report).toMatchObject({
      messages: 4,
      suspects: [{ queueUrl: worker.names.dlqUrl, messageId: expect.any(String) }],
      unseen: 0,
    });
    expect(await worker.depth(worker.names.dlqUrl)).toBe(3);
    expect(await received(worker, worker.names.dlqUrl)).toHaveLength(3);
  });

  it.each([
    [3, { messages: 1, unseen: 0 }, 3],
    [11, { messages: 0, unseen: 2 }, 12],
  ])(
    'deletes from a FIFO dead-letter queue what %i others of the group let it see',
    async (others, found, left) => {
      const worker = await startWorker({ messages: [personNoted], fifo: true });
      const deadLetters = [...Array(others).fill('other'), request.aggregateId];
      for (const [index, aggregateId] of deadLetters.entries()) {
        await worker.clients.sqs.send(
          new SendMessageCommand({
            QueueUrl: worker.names.dlqUrl,
            MessageBody: JSON.stringify({ ...envelope(index + 1, false), aggregateId }),
            MessageGroupId: 'group',
            MessageDeduplicationId: String(index),
          }),
        );
      }

      expect(await forget(worker)).toMatchObject(found);

      expect(await worker.depth(worker.names.dlqUrl)).toBe(left);
      expect((await received(worker, worker.names.dlqUrl)).length).toBeGreaterThan(0);
    },
  );

  it('says how many dead letters it could not look at', async () => {
    const { worker } = await startBoth();
    // Another's hands: in flight for 30 seconds.
    expect(await received(worker, worker.names.dlqUrl)).toHaveLength(1);

    expect(await forget(worker)).toMatchObject({ unseen: 1 });
  });

  it('keeps a tombstone by which a late duplicate does nothing', async () => {
    const { worker } = await startBoth();
    await forget(worker);

    await worker.send(envelope(1, false));
    await worker.untilIdle();

    expect(await worker.executions()).toBe(2);
    expect(await worker.aggregate('person', `${CANARY} id`)).toBeUndefined();
    expect(await worker.inbox(sealedKey(`${CANARY} key 1`))).toMatchObject({
      status: 'COMPLETED',
      forgottenAt: '2026-02-01T00:00:00.000Z',
    });
  });

  /** A message that has failed, mended. */
  async function failedOnce(data: 'inline' | 'reference', faults?: FaultInjector) {
    const type = { ...personNoted, data, executionNames: 'readable' as const };
    const worker = await startWorker({ messages: [type], ...(faults === undefined ? {} : { faults }) });
    await worker.send(envelope(1, true));
    await worker.untilIdle();
    worker.deploy([{ ...type, plan: () => ({ set: { name: CANARY } }) }]);
    return { worker, key: data === 'reference' ? sealedKey(`${CANARY} key 1`) : `${CANARY} key 1` };
  }

  it.each(['inline', 'reference'] as const)(
    'is not undone by a redrive of a message that had failed (data: %s)',
    async (data) => {
      const { worker, key } = await failedOnce(data);
      const { arn } = await worker.execution(key);
      await forget(worker);
      const before = await allRows(worker);

      await redrive(worker, key);

      const { status, error } = await worker.clients.sfn.send(
        new DescribeExecutionCommand({ executionArn: arn }),
      );
      expect({ status, error }).toEqual({ status: 'FAILED', error: 'FORGOTTEN' });
      expect(await allRows(worker)).toEqual(before);
      expect(await objects(worker)).toEqual([]);
    },
  );

  it('is not undone by a replay that began before it and commits after it', async () => {
    let replay: TestWorker | undefined;
    const { worker, key } = await failedOnce('inline', async ({ caller, operation }): Promise<Fault> => {
      if (caller === 'commit' && operation === 'TransactWriteItems' && replay !== undefined) {
        const replayed = replay;
        replay = undefined;
        await forget(replayed);
      }
      return 'none';
    });
    replay = worker;
    const { arn } = await worker.execution(key);
    const input = String(worker.stepFunctions.history(arn)?.[0]?.details?.input);
    const { stateMachineArn } = worker.names;

    await worker.clients.sfn.send(new StartExecutionCommand({ stateMachineArn, name: 'by-hand', input }));
    await worker.untilIdle();

    expect(replay).toBeUndefined();
    expect(await worker.aggregate('person', `${CANARY} id`)).toBeUndefined();
    expect(await worker.inbox(key)).toMatchObject({
      status: 'FAILED_TERMINAL',
      forgottenAt: expect.anything(),
    });
  });

  it('erases the conflict that came after the tombstone, when it is repeated', async () => {
    const { worker } = await startBoth();
    await forget(worker);
    await worker.send({ ...envelope(1, false), payload: { name: 'other', fail: false } });
    await worker.untilIdle();
    const conflicts = async () =>
      (await allRows(worker)).filter(({ SK }) => String(SK).startsWith('CONFLICT#')).length;
    expect(await conflicts()).toBe(1);

    await forget(worker);

    expect(await conflicts()).toBe(0);
  });

  it('leaves the aggregate’s item when told so, and everything of other aggregates', async () => {
    const { worker } = await startBoth();
    await worker.send({ ...envelope(1, false), aggregateId: 'other', idempotencyKey: 'other' });
    await worker.untilIdle();

    await forget(worker, { keepAggregate: true });

    expect(await worker.aggregate('person', `${CANARY} id`)).toMatchObject({ revision: 1 });
    expect(await worker.aggregate('person', 'other')).toMatchObject({ revision: 1 });
    expect(await worker.inbox(sealedKey('other'))).toMatchObject({ aggregateId: expect.anything() });
  });

  it('erases nothing of a message that is still being worked on', async () => {
    const worker = await startWorker({ messages: [personNoted] });
    await worker.send({ ...envelope(1, false), attemptPolicy: { notBefore: '2026-01-02T00:00:00Z' } });
    await worker.until(async () => (await worker.executions('RUNNING')) === 1);

    const report = await forget(worker);
    await worker.untilIdle();

    expect(report).toEqual({
      tombstones: 0,
      rows: 0,
      objects: 0,
      messages: 0,
      suspects: [],
      suspectCases: [],
      unseen: 0,
      unfinished: [sealedKey(`${CANARY} key 1`)],
    });
    expect(await worker.aggregate('person', `${CANARY} id`)).toMatchObject({ name: `${CANARY} name` });
  });
});
