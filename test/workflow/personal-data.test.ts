import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, ListObjectVersionsCommand } from '@aws-sdk/client-s3';
import { ListExecutionsCommand } from '@aws-sdk/client-sfn';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { forgetAggregate } from '../../lambdas/aws/forget.ts';
import { TerminalFailure } from '../../lambdas/core/errors.ts';
import { defineMessage } from '../../lambdas/core/message-type.ts';
import { sealedKey } from '../../lambdas/core/seal.ts';
import type { Telemetry } from '../../lambdas/core/telemetry.ts';
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

/** Keeps every line and metric as text. */
function recorder() {
  const lines: string[] = [];
  const keep = (...parts: unknown[]) => void lines.push(JSON.stringify(parts));
  const telemetry: Telemetry = { info: keep, warn: keep, error: keep, metric: keep, flush() {} };
  return { lines, telemetry };
}

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

async function histories({ clients, names, stepFunctions }: TestWorker): Promise<string> {
  const { executions = [] } = await clients.sfn.send(
    new ListExecutionsCommand({ stateMachineArn: names.stateMachineArn }),
  );
  expect(executions.length).toBeGreaterThan(1);
  return JSON.stringify([
    executions,
    executions.map(({ executionArn = '' }) => stepFunctions.history(executionArn)),
  ]);
}

async function rows({ clients, names }: TestWorker): Promise<string[]> {
  const { Items = [] } = await clients.dynamodb.send(new ScanCommand({ TableName: names.tableName }));
  return Items.map((item) => JSON.stringify(item));
}

async function objects({ clients, names }: TestWorker): Promise<string[]> {
  const { Versions = [] } = await clients.s3.send(
    new ListObjectVersionsCommand({ Bucket: names.payloadBucket }),
  );
  return Promise.all(
    Versions.map(async ({ Key = '', VersionId }) => {
      const { Body } = await clients.s3.send(
        new GetObjectCommand({
          Bucket: names.payloadBucket,
          Key,
          ...(VersionId === undefined ? {} : { VersionId }),
        }),
      );
      return `${Key} ${await Body?.transformToString()}`;
    }),
  );
}

/** Every message of every queue, with its attributes, as long as its consumers let it lie. */
async function queued(worker: TestWorker): Promise<string[]> {
  const { queueUrl, dlqUrl, quarantineQueueUrl } = worker.names;
  const found = [];
  for (const url of [queueUrl, dlqUrl, quarantineQueueUrl]) found.push(...(await received(worker, url)));
  return found.map((message) => JSON.stringify(message));
}

/** All that any store, history, log or metric of the local runtime holds. */
async function everything(worker: TestWorker, lines: readonly string[]): Promise<string[]> {
  return [
    ...(await rows(worker)),
    ...(await objects(worker)),
    ...(await queued(worker)),
    await histories(worker),
    ...lines,
  ];
}

async function received({ clients }: TestWorker, queueUrl: string) {
  const { Messages = [] } = await clients.sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: 10,
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['All'],
    }),
  );
  return Messages;
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
    forgetAggregate(
      { ...request, ...overrides },
      {
        ...worker.clients,
        queueUrls: [worker.names.dlqUrl, worker.names.quarantineQueueUrl],
        tableName: worker.names.tableName,
        payloadBucket: worker.names.payloadBucket,
      },
    );

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
    await worker.untilIdle();

    const report = await forget(worker);

    expect(report).toMatchObject({
      messages: 2,
      suspects: [{ queueUrl: worker.names.dlqUrl, messageId: expect.any(String) }],
      unseen: 0,
    });
    expect(await worker.depth(worker.names.dlqUrl)).toBe(3);
    expect(await received(worker, worker.names.dlqUrl)).toHaveLength(3);
  });

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
      unseen: 0,
      unfinished: [sealedKey(`${CANARY} key 1`)],
    });
    expect(await worker.aggregate('person', `${CANARY} id`)).toMatchObject({ name: `${CANARY} name` });
  });
});
