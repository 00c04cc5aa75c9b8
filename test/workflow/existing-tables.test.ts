import { CreateTableCommand, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { fromItem, toItem } from '../../lambdas/aws/items.ts';
import { type AnyMessageDefinition, defineMessage } from '../../lambdas/core/message-type.ts';
import type { Fault } from '../../local/edge/faults.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

const TABLE = 'existing-cases';

const stageSet = defineMessage({
  type: 'StageSet',
  schemas: { 1: v.object({ stage: v.nullable(v.string()) }) },
  ordering: 'sequential',
  plan: ({ payload, aggregate }) => ({
    ...(payload.stage === null
      ? {}
      : { set: { stage: payload.stage, owner: String(aggregate?.attributes.owner ?? 'nobody') } }),
  }),
});

const stage = (version: number, payload: { stage: string | null }) => ({
  messageId: `m-${version}`,
  schemaVersion: 1,
  messageType: 'StageSet',
  producer: 'cases',
  occurredAt: '2026-01-01T00:00:00Z',
  idempotencyKey: `stage:${version}`,
  aggregateType: 'Case',
  aggregateId: 'C-1',
  aggregateVersion: version,
  payload,
});

async function startBesideTable(
  faults: (worker: TestWorker) => Promise<void> = async () => {},
  messages: readonly AnyMessageDefinition[] = [stageSet],
): Promise<TestWorker> {
  const worker: TestWorker = await startWorker({
    messages,
    aggregates: { case: { table: TABLE, key: 'caseId', versionAttribute: 'rev' } },
    faults: async ({ operation }): Promise<Fault> => {
      if (operation === 'TransactWriteItems') await faults(worker);
      return 'none';
    },
  });
  await worker.clients.dynamodb.send(
    new CreateTableCommand({
      TableName: TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'caseId', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'caseId', KeyType: 'HASH' }],
    }),
  );
  return worker;
}

const put = (worker: TestWorker, attributes: Record<string, unknown>) =>
  worker.clients.dynamodb.send(
    new PutItemCommand({ TableName: TABLE, Item: toItem({ caseId: 'C-1', ...attributes }) }),
  );

async function item(worker: TestWorker) {
  const { Item } = await worker.clients.dynamodb.send(
    new GetItemCommand({ TableName: TABLE, Key: toItem({ caseId: 'C-1' }) }),
  );
  return Item === undefined ? undefined : fromItem(Item);
}

describe('an aggregate in a table of its own', () => {
  it('is read and written there, in order, and counted up', async () => {
    const worker = await startBesideTable();
    await put(worker, { rev: 7, owner: 'ana', note: 'kept' });

    await worker.send(stage(2, { stage: 'REVIEW' }));
    await worker.send(stage(1, { stage: 'INTAKE' }));
    await worker.untilIdle();

    expect(await item(worker)).toEqual({
      caseId: 'C-1',
      rev: 9,
      owner: 'ana',
      note: 'kept',
      stage: 'REVIEW',
    });
    expect(await worker.aggregate('case', 'C-1')).toEqual({
      PK: 'CASE#C-1',
      SK: 'META',
      revision: 2,
      'version#StageSet': 2,
      'lastKey#StageSet': 'stage:2',
    });
  });

  it('is shown to the handler without its key and its version', async () => {
    const shown: unknown[] = [];
    const watching = defineMessage({
      type: 'StageSet',
      schemas: { 1: v.looseObject({}) },
      ordering: 'none',
      plan({ aggregate }) {
        shown.push(aggregate);
        return {};
      },
    });
    const worker = await startBesideTable(undefined, [watching]);
    await put(worker, { rev: 7, owner: 'ana' });

    await worker.send(stage(1, { stage: 'INTAKE' }));
    await worker.untilIdle();

    expect(shown).toEqual([{ attributes: { owner: 'ana' }, revision: 7, version: 0 }]);
  });

  it.each([
    ['is created when there is none', undefined, { caseId: 'C-1', rev: 1, stage: 'INTAKE', owner: 'nobody' }],
    ['gets its first version', { owner: 'ana' }, { caseId: 'C-1', rev: 1, stage: 'INTAKE', owner: 'ana' }],
  ])('%s', async (_what, before, after) => {
    const worker = await startBesideTable();
    if (before !== undefined) await put(worker, before);

    await worker.send(stage(1, { stage: 'INTAKE' }));
    await worker.untilIdle();

    expect(await item(worker)).toEqual(after);
  });

  it('is planned again when another writer came between', async () => {
    let raced = false;
    const worker = await startBesideTable(async (racing) => {
      if (!raced) await put(racing, { rev: 2, owner: 'ben' });
      raced = true;
    });
    await put(worker, { rev: 1, owner: 'ana' });

    await worker.send(stage(1, { stage: 'INTAKE' }));
    await worker.untilIdle();

    expect(await item(worker)).toEqual({ caseId: 'C-1', rev: 3, owner: 'ben', stage: 'INTAKE' });
    expect((await worker.execution('stage:1')).states).toContain('RoundsLeft');
  });

  it('is not written over when another writer has created it meanwhile', async () => {
    let raced = false;
    const worker = await startBesideTable(async (racing) => {
      if (!raced) await put(racing, { rev: 1, owner: 'ben' });
      raced = true;
    });

    await worker.send(stage(1, { stage: 'INTAKE' }));
    await worker.untilIdle();

    expect(await item(worker)).toEqual({ caseId: 'C-1', rev: 2, owner: 'ben', stage: 'INTAKE' });
  });

  it('is left as it is by a plan that changes nothing there', async () => {
    const worker = await startBesideTable();

    await worker.send(stage(1, { stage: null }));
    await worker.untilIdle();

    expect(await item(worker)).toBeUndefined();
    expect(await worker.inbox('stage:1')).toMatchObject({ status: 'COMPLETED' });
  });

  it('fails for good when its version is no number', async () => {
    const worker = await startBesideTable();
    await put(worker, { rev: 'seven' });

    await worker.send(stage(1, { stage: 'INTAKE' }));
    await worker.untilIdle();

    expect(await worker.inbox('stage:1')).toMatchObject({
      status: 'FAILED_TERMINAL',
      failureCode: 'PLAN_INVALID',
    });
    expect(await item(worker)).toEqual({ caseId: 'C-1', rev: 'seven' });
  });
});
