import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { toItem } from '../../../lambdas/aws/items.ts';
import { createRowReader } from '../../../lambdas/aws/rows.ts';
import { deleteWaiter } from '../../../lambdas/aws/waiters.ts';
import { versionAttribute } from '../../../lambdas/core/ordering.ts';
import type { Row } from '../../../lambdas/core/ports.ts';
import { aggregateKey, skipKey, waiterKey } from '../../../lambdas/core/table.ts';
import { type WakerDeps, wake } from '../../../lambdas/waker/waker.ts';
import { createDynamoDb } from '../../../local/dynamodb/dynamodb.ts';
import { inProcessClientConfig } from '../../../local/edge/client-config.ts';
import { createInProcessRequestHandler } from '../../../local/edge/request-handler.ts';
import { createVirtualClock } from '../../../local/virtual-clock.ts';
import { seededRandom, sequentialIds } from '../../helpers/ids.ts';

const TABLE_NAME = 'Table';
const STREAM = 'Stage';
const AGGREGATE = aggregateKey('case', '1');
const PLACE = { aggregate: AGGREGATE.PK, stream: STREAM };

/** The real rows and conditions on the embedded DynamoDB; tokens are answered by the test. */
async function setUp(answer: (token: string) => Promise<'answered' | 'gone'> = async () => 'answered') {
  const clock = createVirtualClock();
  const dynamodb = createDynamoDb({ clock, newId: sequentialIds() });
  const client = new DynamoDBClient(
    inProcessClientConfig({
      requestHandler: createInProcessRequestHandler(dynamodb.dispatch),
      clock,
      random: seededRandom(1),
      maxAttempts: 1,
    }),
  );
  await dynamodb.handle({
    target: 'DynamoDB_20120810.CreateTable',
    body: JSON.stringify({
      TableName: TABLE_NAME,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['PK', 'SK'].map((name) => ({ AttributeName: name, AttributeType: 'S' })),
      KeySchema: [
        { AttributeName: 'PK', KeyType: 'HASH' },
        { AttributeName: 'SK', KeyType: 'RANGE' },
      ],
    }),
  });
  const rows = createRowReader(client, TABLE_NAME);
  const put = async (row: Row) => {
    await client.send(new PutItemCommand({ TableName: TABLE_NAME, Item: toItem(row) }));
  };
  const answered: string[] = [];
  const deps: WakerDeps = {
    rows,
    answer: async (token) => {
      answered.push(token);
      return answer(token);
    },
    deleteWaiter: (waiter) => deleteWaiter(client, TABLE_NAME, waiter),
  };
  return {
    deps,
    answered,
    apply: (version: number) => put({ ...AGGREGATE, [versionAttribute(STREAM)]: version }),
    skip: (version: number) => put({ ...skipKey(AGGREGATE, STREAM, version), version, stream: STREAM }),
    park: (version: number, taskToken: string, stream = STREAM, execution = `e${version}`) =>
      put({ ...waiterKey(AGGREGATE, stream, version, execution), taskToken, executionName: execution }),
    tokens: async () =>
      (await rows.range(AGGREGATE.PK, 'WAITER#', 'WAITER#\uffff', 100)).map((row) => row.taskToken),
  };
}

describe('wake', () => {
  it('answers everybody up to the turn, and nobody after it', async () => {
    const { deps, answered, apply, park, tokens } = await setUp();
    await apply(3);
    await park(2, 'late');
    await park(4, 'next');
    await park(4, 'rival', STREAM, 'other');
    await park(5, 'early');

    expect(await wake(PLACE, deps)).toBe(3);

    expect(answered.sort()).toEqual(['late', 'next', 'rival']);
    expect(await tokens()).toEqual(['early']);
  });

  it('takes consecutive skip markers as applied', async () => {
    const { deps, answered, apply, skip, park } = await setUp();
    await apply(1);
    await skip(2);
    await skip(3);
    await skip(6);
    await park(4, 'next');
    await park(5, 'early');

    await wake(PLACE, deps);

    expect(answered).toEqual(['next']);
  });

  it('leaves the other streams of an aggregate alone', async () => {
    const { deps, answered, park } = await setUp();
    await park(1, 'mine');
    await park(1, 'theirs', 'Stagecoach');

    await wake(PLACE, deps);

    expect(answered).toEqual(['mine']);
  });

  it('clears away a waiter whose token can no longer be answered', async () => {
    const { deps, park, tokens } = await setUp(async () => 'gone');
    await park(1, 'timed-out');

    expect(await wake(PLACE, deps)).toBe(0);

    expect(await tokens()).toEqual([]);
  });

  it('keeps the new token of an execution that timed out and parked again meanwhile', async () => {
    const worker = await setUp(async (token) => {
      if (token !== 'old') return 'answered';
      await worker.park(1, 'new');
      return 'gone';
    });
    await worker.park(1, 'old');

    await wake(PLACE, worker.deps);
    expect(await worker.tokens()).toEqual(['new']);

    await wake(PLACE, worker.deps);
    expect(worker.answered).toEqual(['old', 'new']);
    expect(await worker.tokens()).toEqual([]);
  });

  it('works through more waiters than one look holds', async () => {
    const { deps, answered, apply, park } = await setUp();
    await apply(150);
    for (let version = 1; version <= 151; version += 1) await park(version, `t${version}`);

    expect(await wake(PLACE, deps)).toBe(151);

    expect(new Set(answered).size).toBe(151);
  });
});
