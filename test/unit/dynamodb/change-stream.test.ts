import { DeleteItemCommand, TransactWriteItemsCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { createSubject, createTable, key, put, type Subject, stored, TABLE } from './harness.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

describe('the change stream', () => {
  let subject: Subject;

  beforeEach(async () => {
    subject = createSubject();
    await createTable(subject);
  });

  const read = (afterSequenceNumber?: string, limit?: number) =>
    subject.dynamoDb.readStream({
      tableName: TABLE,
      afterSequenceNumber,
      ...(limit === undefined ? {} : { limit }),
    });

  it('records an insert, a change and a removal as Lambda hands them over', async () => {
    await put(subject, { ...key('a'), n: { N: '1' } });
    await put(subject, { ...key('a'), n: { N: '2' } });
    await subject.client.send(new DeleteItemCommand({ TableName: TABLE, Key: key('a') }));
    const { records } = read();
    expect(records.map((record) => record.eventName)).toEqual(['INSERT', 'MODIFY', 'REMOVE']);
    expect(records[0]).toEqual({
      eventID: expect.stringMatching(/^[0-9a-f]{32}$/),
      eventName: 'INSERT',
      eventVersion: '1.1',
      eventSource: 'aws:dynamodb',
      awsRegion: 'us-east-1',
      dynamodb: {
        ApproximateCreationDateTime: Date.UTC(2026, 0, 1) / 1000,
        Keys: key('a'),
        NewImage: { ...key('a'), n: { N: '1' } },
        SequenceNumber: expect.stringMatching(/^\d{21}$/),
        // PK a SK META twice (keys and image) and the number n of two bytes.
        SizeBytes: 2 * 9 + 3,
        StreamViewType: 'NEW_AND_OLD_IMAGES',
      },
      eventSourceARN: `arn:aws:dynamodb:us-east-1:000000000000:table/${TABLE}/stream/2026-01-01T00:00:00.000`,
    });
    expect(records[1]?.dynamodb).toMatchObject({
      NewImage: { ...key('a'), n: { N: '2' } },
      OldImage: { ...key('a'), n: { N: '1' } },
    });
    expect(records[2]?.dynamodb).toMatchObject({ OldImage: { ...key('a'), n: { N: '2' } } });
    expect(records[2]?.dynamodb).not.toHaveProperty('NewImage');
  });

  it('records nothing for a write that leaves the item as it was', async () => {
    await put(subject, { ...key('a'), n: { N: '1' } });
    await put(subject, { ...key('a'), n: { N: '1.0' } });
    await subject.client.send(
      new UpdateItemCommand({
        TableName: TABLE,
        Key: key('a'),
        UpdateExpression: 'SET n = :n REMOVE nothing',
        ExpressionAttributeValues: { ':n': { N: '1' } },
      }),
    );
    await subject.client.send(new DeleteItemCommand({ TableName: TABLE, Key: key('not there') }));
    expect(read().records).toHaveLength(1);
  });

  it('records nothing for a condition check', async () => {
    await put(subject, key('a'));
    await subject.client.send(
      new TransactWriteItemsCommand({
        TransactItems: [
          {
            ConditionCheck: { TableName: TABLE, Key: key('a'), ConditionExpression: 'attribute_exists(PK)' },
          },
          { Put: { TableName: TABLE, Item: key('b') } },
        ],
      }),
    );
    expect(read().records.map((record) => record.dynamodb.Keys)).toEqual([key('a'), key('b')]);
  });

  it('is read on from the last sequence number, in pages', async () => {
    for (const partition of ['a', 'b', 'c']) {
      await put(subject, key(partition));
    }
    const first = read(undefined, 2);
    const second = read(first.lastSequenceNumber, 2);
    const third = read(second.lastSequenceNumber, 2);
    expect(first.records.map((record) => record.dynamodb.Keys.PK)).toEqual([{ S: 'a' }, { S: 'b' }]);
    expect(second.records.map((record) => record.dynamodb.Keys.PK)).toEqual([{ S: 'c' }]);
    expect(third).toEqual({ records: [], lastSequenceNumber: second.lastSequenceNumber, trimmed: false });
    const numbers = [...first.records, ...second.records].map((record) => record.dynamodb.SequenceNumber);
    expect(numbers.toSorted()).toEqual(numbers);
    expect(new Set(numbers).size).toBe(3);
  });

  it('hands out copies', async () => {
    await put(subject, { ...key('a'), n: { N: '1' } });
    Object.assign(read().records[0]?.dynamodb.NewImage ?? {}, { n: { N: '2' } });
    expect(read().records[0]?.dynamodb.NewImage).toEqual({ ...key('a'), n: { N: '1' } });
    expect(await stored(subject, key('a'))).toEqual({ ...key('a'), n: { N: '1' } });
  });

  it('tells listeners of every commit once, until they stop listening', async () => {
    const told: string[] = [];
    const stop = subject.dynamoDb.onChange((tableName) => told.push(tableName));
    await subject.client.send(
      new TransactWriteItemsCommand({
        TransactItems: ['a', 'b'].map((partition) => ({ Put: { TableName: TABLE, Item: key(partition) } })),
      }),
    );
    await put(subject, key('a'));
    stop();
    await put(subject, key('c'));
    expect(told).toEqual([TABLE]);
  });

  it('forgets records after 24 hours and says that it did', async () => {
    await put(subject, key('a'));
    const { lastSequenceNumber } = read();
    await put(subject, key('b'));
    subject.clock.moveTo(subject.clock.now() + DAY_MS);
    await put(subject, key('c'));
    expect(read().records.map((record) => record.dynamodb.Keys.PK)).toEqual([{ S: 'c' }]);
    expect(read(lastSequenceNumber).trimmed).toBe(true);
  });

  it('keeps about as many records as it may', async () => {
    subject = createSubject({ maxStreamRecords: 100 });
    await createTable(subject);
    for (let index = 0; index < 130; index++) {
      await put(subject, key(`item ${index}`));
    }
    const { records, trimmed } = read();
    expect(records.length).toBeGreaterThanOrEqual(100);
    expect(records.length).toBeLessThan(110);
    expect(records.at(-1)?.dynamodb.Keys.PK).toEqual({ S: 'item 129' });
    expect(trimmed).toBe(true);
  });

  it.each([
    ['KEYS_ONLY', []],
    ['NEW_IMAGE', ['NewImage']],
    ['OLD_IMAGE', ['OldImage']],
    ['NEW_AND_OLD_IMAGES', ['NewImage', 'OldImage']],
  ] as const)('carries the images that %s names', async (StreamViewType, images) => {
    subject = createSubject();
    await createTable(subject, { StreamSpecification: { StreamEnabled: true, StreamViewType } });
    await put(subject, { ...key('a'), n: { N: '1' } });
    await put(subject, { ...key('a'), n: { N: '2' } });
    const present = Object.keys(read().records[1]?.dynamodb ?? {}).filter((name) => name.endsWith('Image'));
    expect(present.toSorted()).toEqual(images);
  });

  it('is refused for a table without a stream', async () => {
    subject = createSubject();
    await createTable(subject, { StreamSpecification: { StreamEnabled: false } });
    expect(() => read()).toThrow(`Table ${TABLE} has no stream`);
  });
});
