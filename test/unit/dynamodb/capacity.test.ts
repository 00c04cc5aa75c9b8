import {
  BatchGetItemCommand,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { createSubject, createTable, key, type Subject, TABLE } from './harness.ts';

const KILOBYTE = 1024;
const text = (bytes: number) => ({ S: 'x'.repeat(bytes) });

describe('consumed capacity', () => {
  let subject: Subject;

  beforeEach(async () => {
    subject = createSubject();
    await createTable(subject, {
      AttributeDefinitions: ['PK', 'SK', 'aggregateKey'].map((AttributeName) => ({
        AttributeName,
        AttributeType: 'S',
      })),
      GlobalSecondaryIndexes: [
        {
          IndexName: 'byAggregate',
          KeySchema: [{ AttributeName: 'aggregateKey', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    });
  });

  async function putCost(item: Record<string, { S: string }>) {
    const { ConsumedCapacity } = await subject.client.send(
      new PutItemCommand({ TableName: TABLE, Item: item, ReturnConsumedCapacity: 'INDEXES' }),
    );
    return {
      total: ConsumedCapacity?.CapacityUnits,
      table: ConsumedCapacity?.Table?.CapacityUnits,
      index: ConsumedCapacity?.GlobalSecondaryIndexes?.byAggregate?.CapacityUnits,
    };
  }

  it('is left out unless asked for', async () => {
    const answer = await subject.client.send(new PutItemCommand({ TableName: TABLE, Item: key('a') }));
    expect(answer.ConsumedCapacity).toBeUndefined();
  });

  it('counts a write by the KB begun', async () => {
    const others = 'PKaSKMETAtext'.length;
    expect(await putCost({ ...key('a'), text: text(KILOBYTE - others) })).toEqual({ total: 1, table: 1 });
    expect(await putCost({ ...key('b'), text: text(KILOBYTE - others + 1) })).toEqual({ total: 2, table: 2 });
  });

  it('counts the larger of the old and the new item', async () => {
    await putCost({ ...key('a'), text: text(3 * KILOBYTE) });
    expect(await putCost(key('a'))).toEqual({ total: 4, table: 4 });
    expect(await putCost(key('a'))).toEqual({ total: 1, table: 1 });
  });

  it('counts an index entry that is created, changed, kept and removed', async () => {
    const item = { ...key('a'), aggregateKey: { S: 'one' } };
    expect(await putCost(item)).toEqual({ total: 2, table: 1, index: 1 });
    expect(await putCost({ ...item, more: { S: 'x' } })).toEqual({ total: 1, table: 1 });
    expect(await putCost({ ...item, aggregateKey: { S: 'two' } })).toEqual({ total: 3, table: 1, index: 2 });
    expect(await putCost(key('a'))).toEqual({ total: 2, table: 1, index: 1 });
  });

  it('counts updates and deletes, of what is not there too', async () => {
    const update = await subject.client.send(
      new UpdateItemCommand({
        TableName: TABLE,
        Key: key('a'),
        UpdateExpression: 'SET body = :text',
        ExpressionAttributeValues: { ':text': text(2 * KILOBYTE) },
        ReturnConsumedCapacity: 'TOTAL',
      }),
    );
    const remove = (partition: string) =>
      subject.client.send(
        new DeleteItemCommand({ TableName: TABLE, Key: key(partition), ReturnConsumedCapacity: 'TOTAL' }),
      );
    expect(update.ConsumedCapacity?.CapacityUnits).toBe(3);
    expect((await remove('a')).ConsumedCapacity?.CapacityUnits).toBe(3);
    expect((await remove('not there')).ConsumedCapacity?.CapacityUnits).toBe(1);
  });

  it('counts reads by 4 KB, half when not consistent', async () => {
    await putCost({ ...key('a'), text: text(5 * KILOBYTE) });
    const get = async (partition: string, ConsistentRead: boolean) => {
      const { ConsumedCapacity } = await subject.client.send(
        new GetItemCommand({
          TableName: TABLE,
          Key: key(partition),
          ConsistentRead,
          ReturnConsumedCapacity: 'TOTAL',
        }),
      );
      return ConsumedCapacity?.CapacityUnits;
    };
    expect(await get('a', true)).toBe(2);
    expect(await get('a', false)).toBe(1);
    expect(await get('not there', true)).toBe(1);
    expect(await get('not there', false)).toBe(0.5);
  });

  it('counts each item of a batch by itself, and a query by its sum', async () => {
    for (const sort of ['1', '2', '3']) {
      await putCost({ ...key('a', sort), text: text(KILOBYTE) });
    }
    const batch = await subject.client.send(
      new BatchGetItemCommand({
        RequestItems: {
          [TABLE]: { Keys: [key('a', '1'), key('a', '2'), key('a', 'not there')], ConsistentRead: true },
        },
        ReturnConsumedCapacity: 'TOTAL',
      }),
    );
    const query = async (partition: string) => {
      const { ConsumedCapacity } = await subject.client.send(
        new QueryCommand({
          TableName: TABLE,
          KeyConditionExpression: 'PK = :pk',
          ExpressionAttributeValues: { ':pk': { S: partition } },
          ConsistentRead: true,
          ReturnConsumedCapacity: 'TOTAL',
        }),
      );
      return ConsumedCapacity?.CapacityUnits;
    };
    expect(batch.ConsumedCapacity?.[0]?.CapacityUnits).toBe(3);
    expect(await query('a')).toBe(1);
    expect(await query('not there')).toBe(1);
  });

  it('counts transactions twice, and the repetition of a token as reads', async () => {
    await putCost({ ...key('checked'), text: text(KILOBYTE) });
    const request = () =>
      new TransactWriteItemsCommand({
        ClientRequestToken: 'token',
        ReturnConsumedCapacity: 'INDEXES',
        TransactItems: [
          { Put: { TableName: TABLE, Item: { ...key('a'), aggregateKey: { S: 'one' } } } },
          {
            ConditionCheck: {
              TableName: TABLE,
              Key: key('checked'),
              ConditionExpression: 'attribute_exists(PK)',
            },
          },
        ],
      });
    const first = await subject.client.send(request());
    const again = await subject.client.send(request());
    expect(first.ConsumedCapacity).toEqual([
      {
        TableName: TABLE,
        CapacityUnits: 7,
        WriteCapacityUnits: 7,
        Table: { CapacityUnits: 6, WriteCapacityUnits: 6 },
        GlobalSecondaryIndexes: { byAggregate: { CapacityUnits: 1 } },
      },
    ]);
    expect(again.ConsumedCapacity?.[0]).toMatchObject({ CapacityUnits: 4, ReadCapacityUnits: 4 });
    const read = await subject.client.send(
      new TransactGetItemsCommand({
        TransactItems: [{ Get: { TableName: TABLE, Key: key('a') } }],
        ReturnConsumedCapacity: 'TOTAL',
      }),
    );
    expect(read.ConsumedCapacity).toEqual([{ TableName: TABLE, CapacityUnits: 2, ReadCapacityUnits: 2 }]);
  });
});
