import {
  BatchWriteItemCommand,
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  ListTagsOfResourceCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateContinuousBackupsCommand,
  UpdateItemCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { createSubject, createTable, key, put, type Subject, stored, TABLE } from './harness.ts';

describe('tables', () => {
  let subject: Subject;

  beforeEach(() => {
    subject = createSubject();
  });

  async function described() {
    const { Table } = await subject.client.send(new DescribeTableCommand({ TableName: TABLE }));
    return Table;
  }

  it('are created with the options of a deployed table', async () => {
    await createTable(subject, {
      SSESpecification: { Enabled: true },
      DeletionProtectionEnabled: true,
      Tags: [{ Key: 'app', Value: 'stepwell' }],
    });
    const table = await described();
    expect(table).toMatchObject({
      TableStatus: 'ACTIVE',
      TableArn: `arn:aws:dynamodb:us-east-1:000000000000:table/${TABLE}`,
      CreationDateTime: new Date(Date.UTC(2026, 0, 1)),
      BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
      SSEDescription: { Status: 'ENABLED' },
      DeletionProtectionEnabled: true,
    });
    const tags = await subject.client.send(new ListTagsOfResourceCommand({ ResourceArn: table?.TableArn }));
    expect(tags.Tags).toEqual([{ Key: 'app', Value: 'stepwell' }]);
  });

  it('belong to the region and account that were given', async () => {
    subject = createSubject({ region: 'eu-west-1', accountId: '123456789012' });
    await createTable(subject);
    expect((await described())?.TableArn).toBe(`arn:aws:dynamodb:eu-west-1:123456789012:table/${TABLE}`);
  });

  it('count their items', async () => {
    await createTable(subject);
    await put(subject, key('a'));
    await put(subject, key('a'));
    await put(subject, key('b'));
    expect((await described())?.ItemCount).toBe(2);
  });

  it('are refused twice under one name', async () => {
    await createTable(subject);
    await expect(createTable(subject)).rejects.toMatchObject({ name: 'ResourceInUseException' });
  });

  it('are deleted unless protected', async () => {
    await createTable(subject, { DeletionProtectionEnabled: true });
    const remove = () => subject.client.send(new DeleteTableCommand({ TableName: TABLE }));
    await expect(remove()).rejects.toThrow('protected against deletion');
    subject = createSubject();
    await createTable(subject);
    await remove();
    await expect(described()).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });

  it('are listed in pages', async () => {
    for (const TableName of ['one', 'two', 'three']) {
      await createTable(subject, { TableName });
    }
    const first = await subject.client.send(new ListTablesCommand({ Limit: 2 }));
    const second = await subject.client.send(
      new ListTablesCommand({ ExclusiveStartTableName: first.LastEvaluatedTableName }),
    );
    expect(first.TableNames).toEqual(['one', 'three']);
    expect(second).toMatchObject({ TableNames: ['two'] });
    expect(second.LastEvaluatedTableName).toBeUndefined();
  });

  it('keep the point-in-time recovery setting', async () => {
    await createTable(subject);
    const status = async () => {
      const answer = await subject.client.send(new DescribeContinuousBackupsCommand({ TableName: TABLE }));
      return answer.ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus;
    };
    expect(await status()).toBe('DISABLED');
    await subject.client.send(
      new UpdateContinuousBackupsCommand({
        TableName: TABLE,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      }),
    );
    expect(await status()).toBe('ENABLED');
  });

  it('take local indexes, which are read consistently', async () => {
    await createTable(subject, {
      AttributeDefinitions: ['PK', 'SK', 'other'].map((AttributeName) => ({
        AttributeName,
        AttributeType: 'S',
      })),
      LocalSecondaryIndexes: [
        {
          IndexName: 'byOther',
          KeySchema: [
            { AttributeName: 'PK', KeyType: 'HASH' },
            { AttributeName: 'other', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['kept'] },
        },
      ],
    });
    await put(subject, { ...key('a', '1'), other: { S: 'z' }, kept: { S: 'k' }, left: { S: 'l' } });
    await put(subject, { ...key('a', '2'), other: { S: 'b' } });
    const { Items } = await subject.client.send(
      new QueryCommand({
        TableName: TABLE,
        IndexName: 'byOther',
        ConsistentRead: true,
        KeyConditionExpression: 'PK = :pk',
        ExpressionAttributeValues: { ':pk': { S: 'a' } },
      }),
    );
    expect(Items).toEqual([
      { ...key('a', '2'), other: { S: 'b' } },
      { ...key('a', '1'), other: { S: 'z' }, kept: { S: 'k' } },
    ]);
  });

  it('sort numeric and binary keys by value', async () => {
    await createTable(subject, {
      AttributeDefinitions: [
        { AttributeName: 'PK', AttributeType: 'B' },
        { AttributeName: 'SK', AttributeType: 'N' },
      ],
    });
    const PK = { B: new Uint8Array([1, 255]) };
    const numbers = ['-10', '-2.5', '-0.01', '0', '0.5', '2', '10', '1000'];
    for (const N of numbers.toReversed()) {
      await subject.client.send(new PutItemCommand({ TableName: TABLE, Item: { PK, SK: { N } } }));
    }
    const query = async (condition: string, bound: string) => {
      const { Items } = await subject.client.send(
        new QueryCommand({
          TableName: TABLE,
          KeyConditionExpression: `PK = :pk AND ${condition}`,
          ExpressionAttributeValues: { ':pk': PK, ':bound': { N: bound } },
        }),
      );
      return Items?.map((item) => item.SK?.N);
    };
    expect(await query('SK >= :bound', '-10')).toEqual(numbers);
    expect(await query('SK < :bound', '0.5')).toEqual(numbers.slice(0, 4));
    expect(await query('SK > :bound', '2')).toEqual(['10', '1000']);
  });

  it('are scanned by segments that together hold everything once', async () => {
    await createTable(subject);
    for (let index = 0; index < 40; index++) {
      await put(subject, key(`item ${index}`));
    }
    const segments = await Promise.all(
      [0, 1, 2].map(async (Segment) => {
        const { Items = [] } = await subject.client.send(
          new ScanCommand({ TableName: TABLE, Segment, TotalSegments: 3 }),
        );
        return Items.map((item) => item.PK?.S);
      }),
    );
    expect(segments.every((segment) => segment.length > 0)).toBe(true);
    expect(new Set(segments.flat()).size).toBe(40);
    expect(segments.flat()).toHaveLength(40);
  });

  it('take batches of writes', async () => {
    await createTable(subject);
    await put(subject, key('old'));
    await subject.client.send(
      new BatchWriteItemCommand({
        RequestItems: {
          [TABLE]: [{ PutRequest: { Item: key('new') } }, { DeleteRequest: { Key: key('old') } }],
        },
      }),
    );
    expect(await stored(subject, key('new'))).toBeDefined();
    expect(await stored(subject, key('old'))).toBeUndefined();
  });

  it('treat the names of built-in members as plain attribute names', async () => {
    await createTable(subject);
    await subject.client.send(
      new PutItemCommand({
        TableName: TABLE,
        Item: { ...key('a'), toString: { S: 'x' } },
        ConditionExpression: 'attribute_not_exists(hasOwnProperty)',
      }),
    );
    expect(await stored(subject, key('a'))).toHaveProperty('toString', { S: 'x' });
  });
});

describe('what the embedded DynamoDB leaves out', () => {
  let subject: Subject;

  beforeEach(async () => {
    subject = createSubject();
    await createTable(subject);
  });

  it('refuses operations by name', async () => {
    const update = subject.client.send(
      new UpdateTableCommand({ TableName: TABLE, DeletionProtectionEnabled: true }),
    );
    await expect(update).rejects.toMatchObject({
      name: 'UnknownOperationException',
      message: expect.stringContaining('has no operation DynamoDB_20120810.UpdateTable'),
    });
  });

  it('refuses table options by name', async () => {
    const create = createTable(subject, { TableName: 'other', TableClass: 'STANDARD' });
    await expect(create).rejects.toMatchObject({
      name: 'ValidationException',
      message: expect.stringContaining('TableClass is not supported by the embedded DynamoDB'),
    });
  });

  it('refuses item collection metrics', async () => {
    const write = subject.client.send(
      new PutItemCommand({ TableName: TABLE, Item: key('a'), ReturnItemCollectionMetrics: 'SIZE' }),
    );
    await expect(write).rejects.toThrow('ReturnItemCollectionMetrics is not supported');
  });

  it('refuses legacy parameters and names the expression to use', async () => {
    const get = subject.client.send(
      new GetItemCommand({ TableName: TABLE, Key: key('a'), AttributesToGet: ['PK'] }),
    );
    await expect(get).rejects.toThrow('use ProjectionExpression');
    const update = subject.client.send(
      new UpdateItemCommand({
        TableName: TABLE,
        Key: key('a'),
        AttributeUpdates: { n: { Value: { N: '1' }, Action: 'PUT' } },
      }),
    );
    await expect(update).rejects.toThrow('use UpdateExpression');
  });

  it('refuses an attribute named __proto__, which it would lose', async () => {
    const { status, body } = await subject.dynamoDb.handle({
      target: 'DynamoDB_20120810.PutItem',
      body: `{"TableName":"${TABLE}","Item":{"PK":{"S":"a"},"SK":{"S":"b"},"__proto__":{"S":"x"}}}`,
    });
    expect(status).toBe(400);
    expect(body).toContain('__proto__ is not supported');
  });

  it.each(['', '{', '[]', '"text"', 'null'])(
    'answers the body %j with SerializationException',
    async (body) => {
      const answer = await subject.dynamoDb.handle({ target: 'DynamoDB_20120810.GetItem', body });
      expect(answer.status).toBe(400);
      expect(answer.body).toContain('SerializationException');
    },
  );
});

describe('the HTTP listener', () => {
  it('serves real clients until the store is closed', async () => {
    const subject = createSubject();
    const { url, port } = await subject.dynamoDb.listen();
    const client = new DynamoDBClient({
      endpoint: url,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      maxAttempts: 1,
    });
    await createTable({ ...subject, client });
    await put({ ...subject, client }, key('ä'));
    expect(await stored({ ...subject, client }, key('ä'))).toEqual(key('ä'));
    await expect(createSubject().dynamoDb.listen({ port })).rejects.toThrow(`port ${port}`);
    await subject.dynamoDb.close();
    await expect(stored({ ...subject, client }, key('ä'))).rejects.toThrow();
    client.destroy();
  });
});
