import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { DeleteObjectCommand, ListObjectVersionsCommand } from '@aws-sdk/client-s3';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { forgetAggregate } from '../../lambdas/aws/forget.ts';
import { toItem } from '../../lambdas/aws/items.ts';
import { type AnyMessageDefinition, defineMessage } from '../../lambdas/core/message-type.ts';
import { sealedKey, sealedText } from '../../lambdas/core/seal.ts';
import { inboxKey } from '../../lambdas/core/table.ts';
import { everything, forgetDeps, objects, recorder, rows } from '../helpers/held.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

const CANARY = 'canary7f3a';
const ID = `${CANARY} id`;

const personNoted = defineMessage({
  type: 'PersonNoted',
  schemas: { 1: v.object({ name: v.string() }) },
  ordering: 'none',
  data: 'reference',
  plan: ({ payload }) => ({ set: { name: payload.name } }),
});

const envelope = (key: string, fields: Readonly<Record<string, unknown>> = {}) => ({
  messageId: key,
  schemaVersion: 1,
  messageType: 'PersonNoted',
  producer: 'desk',
  occurredAt: '2026-01-01T00:00:00Z',
  idempotencyKey: key,
  aggregateType: 'PERSON',
  aggregateId: ID,
  payload: { name: `${CANARY} name` },
  ...fields,
});

const request = { aggregateType: 'person', aggregateId: ID, now: new Date('2026-02-01T00:00:00Z') };

/** A worker that keeps what it refuses in the quarantine: bodies lie in rows, or beside them when they are large. */
async function startQuarantine() {
  const { lines, telemetry } = recorder();
  const worker = await startWorker({ messages: [personNoted], telemetry, invalidMessages: 'quarantine' });
  await worker.send(envelope('good'));
  return { worker, lines };
}

describe('forgetAggregate and the cases of messages that were refused', () => {
  it.each([
    ['in its row', {}],
    ['in the payload bucket', { text: 'x'.repeat(320 * 1024) }],
  ])('erases a body that breaks the rules of an envelope and lies %s', async (_where, more) => {
    const { worker, lines } = await startQuarantine();
    await worker.send(envelope('bad', { extra: `${CANARY} extra`, payload: more }));
    await worker.untilIdle();

    const report = await forgetAggregate(request, forgetDeps(worker));

    expect(report).toMatchObject({ unfinished: [], suspects: [], suspectCases: [] });
    expect((await everything(worker, lines)).filter((text) => text.includes(CANARY))).toEqual([]);
    expect(await objects(worker)).toEqual([]);
  });

  it('leaves cases of others, and names those whose body names the id and says of nobody', async () => {
    const { worker } = await startQuarantine();
    await worker.send(envelope('other', { aggregateId: 'other', extra: 1 }));
    await worker.send(envelope('other type', { aggregateType: 'HOUSE', extra: 1 }));
    await worker.send(`{"broken": "${ID}`);
    await worker.send('{"broken": ');
    await worker.untilIdle();

    const report = await forgetAggregate(request, forgetDeps(worker));

    const cases = (await rows(worker)).filter((row) => row.includes('QUARANTINE#'));
    expect(cases).toHaveLength(4);
    expect(report.suspectCases).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\d#[0-9a-f]\/.+/)]);
  });
});

/** Everything that the payload bucket keeps under its keys: versions and delete markers. */
async function versions({ clients, names }: TestWorker): Promise<readonly string[]> {
  const { Versions = [], DeleteMarkers = [] } = await clients.s3.send(
    new ListObjectVersionsCommand({ Bucket: names.payloadBucket }),
  );
  return [...Versions, ...DeleteMarkers].map(({ Key = '' }) => Key);
}

describe('forgetAggregate and objects that were deleted before', () => {
  it('erases their earlier versions and the markers', async () => {
    const worker = await startWorker({ messages: [personNoted] });
    await worker.send(envelope('good'));
    await worker.untilIdle();
    for (const Key of await versions(worker)) {
      await worker.clients.s3.send(new DeleteObjectCommand({ Bucket: worker.names.payloadBucket, Key }));
    }
    expect(await objects(worker)).not.toEqual([]);

    await forgetAggregate(request, forgetDeps(worker));

    expect(await versions(worker)).toEqual([]);
  });
});

describe('forgetAggregate and the count of arrivals', () => {
  it('begins anew with the first message that comes after', async () => {
    const worker = await startWorker({ messages: [{ ...personNoted, ordering: 'arrival' }], fifo: true });
    const send = (key: string) => worker.send(envelope(key), { groupId: 'person' });
    await send('one');
    await send('two');
    await worker.untilIdle();

    await forgetAggregate(request, forgetDeps(worker));
    expect((await rows(worker)).filter((row) => row.includes(CANARY))).toEqual([]);
    await send('three');
    await worker.untilIdle();

    expect(await worker.inbox(sealedKey('three'))).toMatchObject({ status: 'COMPLETED', arrival: 1 });
  });
});

/** A worker, and what is to happen between what `forgetAggregate` has read and the first row that it writes. */
async function startInterrupted(type: AnyMessageDefinition = personNoted) {
  let next: (() => Promise<unknown>) | undefined;
  const worker = await startWorker({ messages: [type] });
  worker.clients.dynamodb.middlewareStack.add(
    (handle, context) => async (args) => {
      const now = context.commandName === 'TransactWriteItemsCommand' ? next : undefined;
      if (now !== undefined) {
        next = undefined;
        await now();
      }
      return handle(args);
    },
    { step: 'initialize', name: 'beforeNextWrite' },
  );
  return {
    worker,
    beforeNextWrite: (work: () => Promise<unknown>) => {
      next = work;
    },
  };
}

describe('forgetAggregate while the aggregate is being worked on', () => {
  const waiting = () => envelope('waiting', { attemptPolicy: { notBefore: '2026-01-02T00:00:00Z' } });

  it('leaves the aggregate to the message that still runs, and forgets the finished one', async () => {
    const worker = await startWorker({ messages: [personNoted] });
    await worker.send(envelope('good'));
    await worker.untilIdle();
    await worker.send(waiting());
    await worker.until(async () => (await worker.executions('RUNNING')) === 1);

    const report = await forgetAggregate(request, forgetDeps(worker));

    expect(report).toMatchObject({ tombstones: 1, unfinished: [sealedKey('waiting')] });
    expect(await worker.aggregate('person', ID)).toMatchObject({ revision: 1 });
    await worker.untilIdle();
    expect(await worker.aggregate('person', ID)).toMatchObject({ revision: 2 });
  });

  it('keeps an aggregate that a message has changed since it was looked at, and says so', async () => {
    const { worker, beforeNextWrite } = await startInterrupted();
    await worker.send(envelope('good'));
    await worker.untilIdle();
    beforeNextWrite(async () => {
      await worker.send(envelope('late'));
      await worker.untilIdle();
    });

    const report = await forgetAggregate(request, forgetDeps(worker));

    expect(await worker.aggregate('person', ID)).toMatchObject({ revision: 2 });
    expect(report).toMatchObject({ unfinished: [expect.stringContaining(ID)] });
    expect(await forgetAggregate(request, forgetDeps(worker))).toMatchObject({
      tombstones: 1,
      unfinished: [],
    });
    expect(await worker.aggregate('person', ID)).toBeUndefined();
  });

  // A scan reads the aggregate first, or the partition of its digest: of these ids there are both.
  it.each(['a', 'd'])(
    'keeps with it the version that its sealed messages wait by (%s)',
    async (aggregateId) => {
      const { worker, beforeNextWrite } = await startInterrupted({ ...personNoted, ordering: 'sequential' });
      await worker.send(envelope('one', { aggregateVersion: 1, aggregateId }));
      await worker.untilIdle();
      beforeNextWrite(async () => {
        await worker.send(envelope('two', { aggregateVersion: 2, aggregateId }));
        await worker.untilIdle();
      });

      await forgetAggregate({ ...request, aggregateId }, forgetDeps(worker));

      expect(await worker.aggregate('person', aggregateId)).toMatchObject({ 'version#PersonNoted': 2 });
      expect(await worker.aggregate('person', sealedText(aggregateId))).toMatchObject({
        'version#PersonNoted': 2,
      });
    },
  );

  it('leaves a message that is replayed meanwhile as it is, and names it', async () => {
    const { worker, beforeNextWrite } = await startInterrupted();
    await worker.send(envelope('bad', { payload: { name: 1 } }));
    await worker.untilIdle();
    beforeNextWrite(() =>
      worker.clients.dynamodb.send(
        new UpdateItemCommand({
          TableName: worker.names.tableName,
          Key: toItem({ ...inboxKey(sealedKey('bad'), worker.names.workerName) }),
          UpdateExpression: 'SET #status = :status',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: toItem({ ':status': 'PROCESSING' }),
        }),
      ),
    );

    const report = await forgetAggregate(request, forgetDeps(worker));

    expect(report).toMatchObject({ tombstones: 0, unfinished: [sealedKey('bad')] });
    expect(await worker.inbox(sealedKey('bad'))).toMatchObject({
      status: 'PROCESSING',
      messageType: 'PersonNoted',
    });
  });
});
