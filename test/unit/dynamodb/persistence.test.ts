import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DeleteItemCommand,
  DeleteTableCommand,
  DescribeTimeToLiveCommand,
  ListTablesCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSubject, createTable, key, put, stored, TABLE } from './harness.ts';

describe('a data directory', () => {
  let dataDir: string;

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'dynamodb-test-'));
  });
  afterEach(() => {
    rmSync(dataDir, { recursive: true });
  });

  const open = () => createSubject({ dataDir });

  it('keeps tables, indexes, items and settings over a restart', async () => {
    const first = open();
    await createTable(first, {
      AttributeDefinitions: ['PK', 'SK', 'statusKey'].map((AttributeName) => ({
        AttributeName,
        AttributeType: 'S',
      })),
      GlobalSecondaryIndexes: [
        {
          IndexName: 'byStatus',
          KeySchema: [{ AttributeName: 'statusKey', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
    });
    await first.client.send(
      new UpdateTimeToLiveCommand({
        TableName: TABLE,
        TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      }),
    );
    await put(first, { ...key('a'), statusKey: { S: 'OPEN' } });
    await put(first, key('gone'));
    await first.client.send(new DeleteItemCommand({ TableName: TABLE, Key: key('gone') }));
    await first.dynamoDb.close();

    const second = open();
    expect(await stored(second, key('a'))).toEqual({ ...key('a'), statusKey: { S: 'OPEN' } });
    expect(await stored(second, key('gone'))).toBeUndefined();
    const { Count } = await second.client.send(
      new QueryCommand({
        TableName: TABLE,
        IndexName: 'byStatus',
        KeyConditionExpression: 'statusKey = :open',
        ExpressionAttributeValues: { ':open': { S: 'OPEN' } },
      }),
    );
    expect(Count).toBe(1);
    const ttl = await second.client.send(new DescribeTimeToLiveCommand({ TableName: TABLE }));
    expect(ttl.TimeToLiveDescription?.AttributeName).toBe('ttl');
    await second.dynamoDb.close();
  });

  it('loses no answered write when the process dies', async () => {
    const dying = open();
    await createTable(dying);
    await put(dying, { ...key('a'), n: { N: '1' } });
    await dying.client.send(
      new TransactWriteItemsCommand({
        TransactItems: ['b', 'c'].map((partition) => ({ Put: { TableName: TABLE, Item: key(partition) } })),
      }),
    );
    const next = open();
    for (const partition of ['a', 'b', 'c']) {
      expect(await stored(next, key(partition))).toBeDefined();
    }
    await next.dynamoDb.close();
    await dying.dynamoDb.close();
  });

  it('leaves out a transaction that was torn while it was written', async () => {
    const dying = open();
    await createTable(dying);
    await put(dying, key('a'));
    const file = join(dataDir, 'dynamodb.ndjson');
    const lastLine = readFileSync(file, 'utf8').trimEnd().split('\n').at(-1) ?? '';
    appendFileSync(file, lastLine.replace('"a"', '"torn"').slice(0, -2));
    const next = open();
    expect(await stored(next, key('a'))).toBeDefined();
    expect(await stored(next, key('torn'))).toBeUndefined();
    await put(next, key('b'));
    await next.dynamoDb.close();
    expect(await stored(open(), key('b'))).toBeDefined();
    await dying.dynamoDb.close();
  });

  it('says which line it cannot read', async () => {
    const subject = open();
    await createTable(subject);
    await subject.dynamoDb.close();
    appendFileSync(join(dataDir, 'dynamodb.ndjson'), 'not json\n');
    expect(open).toThrow(/dynamodb\.ndjson: line 2 can't be read/);
  });

  it('keeps items larger than what is read at once, in any script', async () => {
    const first = open();
    await createTable(first);
    const text = { S: 'ä🎉漢'.repeat(30_000) };
    for (const partition of ['a', 'b', 'c', 'd', 'e']) {
      await put(first, { ...key(partition), text });
    }
    await first.dynamoDb.close();
    const second = open();
    expect(await stored(second, key('e'))).toEqual({ ...key('e'), text });
    await second.dynamoDb.close();
  });

  it('goes on with the stream where it stopped', async () => {
    const first = open();
    await createTable(first);
    await put(first, { ...key('a'), n: { N: '1' } });
    await put(first, { ...key('a'), n: { N: '2' } });
    const before = first.dynamoDb.readStream({ tableName: TABLE });
    await first.dynamoDb.close();
    const second = open();
    expect(second.dynamoDb.readStream({ tableName: TABLE })).toEqual(before);
    await second.dynamoDb.close();
    const third = open();
    await put(third, key('b'));
    const { records } = third.dynamoDb.readStream({
      tableName: TABLE,
      afterSequenceNumber: before.lastSequenceNumber,
    });
    expect(records.map((record) => record.dynamodb.Keys)).toEqual([key('b')]);
    await third.dynamoDb.close();
  });

  it('remembers client tokens', async () => {
    const request = () =>
      new TransactWriteItemsCommand({
        ClientRequestToken: 'token',
        TransactItems: [
          {
            Update: {
              TableName: TABLE,
              Key: key('a'),
              UpdateExpression: 'ADD n :one',
              ExpressionAttributeValues: { ':one': { N: '1' } },
            },
          },
        ],
      });
    const first = open();
    await createTable(first);
    await first.client.send(request());
    const second = open();
    await second.client.send(request());
    expect(await stored(second, key('a'))).toEqual({ ...key('a'), n: { N: '1' } });
    await second.dynamoDb.close();
    await first.dynamoDb.close();
  });

  it('forgets a table that was deleted', async () => {
    const first = open();
    await createTable(first);
    await put(first, key('a'));
    await first.client.send(new DeleteTableCommand({ TableName: TABLE }));
    const second = open();
    expect((await second.client.send(new ListTablesCommand({}))).TableNames).toEqual([]);
    await second.dynamoDb.close();
    await first.dynamoDb.close();
  });

  it('refuses writes after it was closed', async () => {
    const subject = open();
    await createTable(subject);
    await subject.dynamoDb.close();
    await expect(put(subject, key('a'))).rejects.toThrow('The DynamoDB store is closed');
  });
});
