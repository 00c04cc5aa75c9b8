import {
  type AttributeValue,
  BatchGetItemCommand,
  DescribeTableCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { failureOf, freshKey, type Subject, useTable, wording } from './setup.ts';

export function reads(subject: Subject): void {
  describe('reads', () => {
    const table = useTable(subject);
    const TableName = table.name;

    async function put(...items: Record<string, AttributeValue>[]) {
      for (const Item of items) {
        await table.client.send(new PutItemCommand({ TableName, Item }));
      }
    }

    function query(input: Omit<QueryCommandInput, 'TableName'>) {
      return table.client.send(new QueryCommand({ TableName, ...input }));
    }

    it('describes the table with its indexes and its stream', async () => {
      const { Table } = await table.client.send(new DescribeTableCommand({ TableName }));
      expect(Table?.TableStatus).toBe('ACTIVE');
      expect(Table?.BillingModeSummary?.BillingMode).toBe('PAY_PER_REQUEST');
      expect(Table?.GlobalSecondaryIndexes?.map((index) => index.IndexName).toSorted()).toEqual([
        'byAggregate',
        'byStatus',
      ]);
      expect(Table?.StreamSpecification?.StreamViewType).toBe('NEW_AND_OLD_IMAGES');
      expect(Table?.LatestStreamArn).toContain(`table/${TableName}/stream/`);
    });

    it('refuses to read a table that does not exist', async () => {
      const failure = await failureOf(
        table.client.send(new GetItemCommand({ TableName: 'no-such-table', Key: freshKey() })),
      );
      expect(failure.name).toBe('ResourceNotFoundException');
    });

    it('gets only the attributes that a projection names', async () => {
      const key = freshKey();
      await put({ ...key, a: { M: { b: { N: '1' }, c: { N: '2' } } }, d: { S: 'x' } });
      const { Item } = await table.client.send(
        new GetItemCommand({ TableName, Key: key, ProjectionExpression: 'PK, a.b' }),
      );
      expect(Item).toEqual({ PK: key.PK, a: { M: { b: { N: '1' } } } });
    });

    describe('BatchGetItem', () => {
      it('gets what is there, consistently', async () => {
        const [one, two, missing] = [freshKey(), freshKey('WORKER#w'), freshKey()];
        await put({ ...one, n: { N: '1' } }, { ...two, n: { N: '2' } });
        const { Responses, UnprocessedKeys } = await table.client.send(
          new BatchGetItemCommand({
            RequestItems: { [TableName]: { Keys: [one, missing, two], ConsistentRead: true } },
          }),
        );
        const numbers = Responses?.[TableName]?.map((item) => item.n?.N).toSorted();
        expect(numbers).toEqual(['1', '2']);
        expect(UnprocessedKeys ?? {}).toEqual({});
      });

      it('refuses a key that is named twice', async () => {
        const key = freshKey();
        const failure = await failureOf(
          table.client.send(
            new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: [key, { ...key }] } } }),
          ),
        );
        expect(failure.name).toBe('ValidationException');
        expect(failure.message).toContain('Provided list of item keys contains duplicates');
      });

      it('refuses more than 100 keys', async () => {
        const failure = await failureOf(
          table.client.send(
            new BatchGetItemCommand({
              RequestItems: { [TableName]: { Keys: Array.from({ length: 101 }, () => freshKey()) } },
            }),
          ),
        );
        expect(failure.name).toBe('ValidationException');
      });
    });

    describe('Query', () => {
      const { PK } = freshKey();
      const waiters = [
        '0000000000000002#b',
        '0000000000000003#a',
        '0000000000000003#c',
        '0000000000000010#d',
      ];

      beforeAll(async () => {
        await put({ PK, SK: { S: 'META' } });
        await put(...waiters.toReversed().map((name) => ({ PK, SK: { S: `WAITER#${name}` } })));
      });

      function sortKeys(items: readonly Record<string, AttributeValue>[] | undefined) {
        return items?.map((item) => item.SK?.S);
      }

      const byPrefix = {
        KeyConditionExpression: 'PK = :pk AND begins_with(SK, :prefix)',
        ExpressionAttributeValues: { ':pk': PK, ':prefix': { S: 'WAITER#' } },
        ConsistentRead: true,
      };

      it('finds by prefix in the order of the sort key', async () => {
        const { Items, Count } = await query(byPrefix);
        expect(sortKeys(Items)).toEqual(waiters.map((name) => `WAITER#${name}`));
        expect(Count).toBe(4);
      });

      it('finds in descending order', async () => {
        const { Items } = await query({ ...byPrefix, ScanIndexForward: false, Limit: 1 });
        expect(sortKeys(Items)).toEqual(['WAITER#0000000000000010#d']);
      });

      it.each([false, true])('pages through everything once (ScanIndexForward %s)', async (forward) => {
        const seen: (string | undefined)[] = [];
        let start: Record<string, AttributeValue> | undefined;
        let pages = 0;
        do {
          const page = await query({
            ...byPrefix,
            Limit: 3,
            ScanIndexForward: forward,
            ExclusiveStartKey: start,
          });
          seen.push(...(sortKeys(page.Items) ?? []));
          start = page.LastEvaluatedKey;
          pages++;
        } while (start !== undefined);
        const expected = waiters.map((name) => `WAITER#${name}`);
        expect(seen).toEqual(forward ? expected : expected.toReversed());
        expect(pages).toBe(2);
      });

      it.each([
        ['SK < :bound', ['META', 'WAITER#0000000000000002#b']],
        ['SK <= :bound', ['META', 'WAITER#0000000000000002#b', 'WAITER#0000000000000003#a']],
        ['SK > :bound', ['WAITER#0000000000000003#c', 'WAITER#0000000000000010#d']],
        [
          'SK >= :bound',
          ['WAITER#0000000000000003#a', 'WAITER#0000000000000003#c', 'WAITER#0000000000000010#d'],
        ],
        ['SK = :bound', ['WAITER#0000000000000003#a']],
        ['SK BETWEEN :bound AND :bound', ['WAITER#0000000000000003#a']],
      ])('finds by %s', async (range, expected) => {
        const { Items } = await query({
          KeyConditionExpression: `PK = :pk AND ${range}`,
          ExpressionAttributeValues: { ':pk': PK, ':bound': { S: 'WAITER#0000000000000003#a' } },
          ConsistentRead: true,
        });
        expect(sortKeys(Items)).toEqual(expected);
      });

      it('sorts by UTF-8 bytes', async () => {
        const partition = freshKey().PK;
        const sorted = ['a', 'z', 'é', '\uffee', '😀'];
        await put(...sorted.toReversed().map((S) => ({ PK: partition, SK: { S } })));
        const { Items } = await query({
          KeyConditionExpression: 'PK = :pk',
          ExpressionAttributeValues: { ':pk': partition },
        });
        expect(sortKeys(Items)).toEqual(sorted);
      });

      it('filters after reading and counts both', async () => {
        const { Items, Count, ScannedCount } = await query({
          KeyConditionExpression: 'PK = :pk',
          FilterExpression: 'attribute_exists(absent)',
          ExpressionAttributeValues: { ':pk': PK },
        });
        expect({ Items, Count, ScannedCount }).toEqual({ Items: [], Count: 0, ScannedCount: 5 });
      });

      it('refuses a condition on anything but the key', async () => {
        const failure = await failureOf(
          query({
            KeyConditionExpression: 'PK = :pk AND another = :pk',
            ExpressionAttributeValues: { ':pk': PK },
          }),
        );
        expect(failure.name).toBe('ValidationException');
        expect(failure.message).toContain('Query condition missed key schema element');
      });

      it('refuses a filter on a key attribute', async () => {
        const failure = await failureOf(
          query({
            KeyConditionExpression: 'PK = :pk',
            FilterExpression: 'SK <> :pk',
            ExpressionAttributeValues: { ':pk': PK },
          }),
        );
        expect(failure.name).toBe('ValidationException');
        expect(failure.message).toContain('Filter Expression can only contain non-primary key attributes');
      });
    });

    describe('an index', () => {
      const byStatus = (key: string) => ({
        IndexName: 'byStatus',
        KeyConditionExpression: 'statusKey = :key',
        ExpressionAttributeValues: { ':key': { S: key } },
      });

      it('holds only the items that carry its whole key', async () => {
        const status = freshKey().PK.S;
        const [full, partial, without] = [freshKey(), freshKey(), freshKey()];
        const entry = { ...full, statusKey: { S: status }, statusSort: { S: '1' }, code: { S: 'X' } };
        await put(entry, { ...partial, statusKey: { S: status } }, without);
        expect((await query(byStatus(status))).Items).toEqual([entry]);
      });

      it('loses an item whose index key is removed, and finds it under a changed one', async () => {
        const [before, after] = [freshKey().PK.S, freshKey().PK.S];
        const key = freshKey();
        await put({ ...key, statusKey: { S: before }, statusSort: { S: '1' } });
        await table.client.send(
          new UpdateItemCommand({
            TableName,
            Key: key,
            UpdateExpression: 'SET statusKey = :after',
            ExpressionAttributeValues: { ':after': { S: after } },
          }),
        );
        expect((await query(byStatus(before))).Count).toBe(0);
        expect((await query(byStatus(after))).Count).toBe(1);
        await table.client.send(
          new TransactWriteItemsCommand({
            TransactItems: [
              { Update: { TableName, Key: key, UpdateExpression: 'REMOVE statusKey, statusSort' } },
            ],
          }),
        );
        expect((await query(byStatus(after))).Count).toBe(0);
      });

      it('pages in its own order, items with equal index keys included', async () => {
        const status = freshKey().PK.S;
        const items = ['2', '1', '1', '3'].map((sort) => ({
          ...freshKey(),
          statusKey: { S: status },
          statusSort: { S: sort },
        }));
        await put(...items);
        const seen: Record<string, AttributeValue>[] = [];
        let start: Record<string, AttributeValue> | undefined;
        do {
          const page = await query({ ...byStatus(status), Limit: 1, ExclusiveStartKey: start });
          seen.push(...(page.Items ?? []));
          start = page.LastEvaluatedKey;
        } while (start !== undefined);
        expect(seen.map((item) => item.statusSort?.S)).toEqual(['1', '1', '2', '3']);
        expect(new Set(seen.map((item) => item.PK?.S)).size).toBe(4);
      });

      it('returns keys only where its projection says so', async () => {
        const aggregate = { S: `CASE#${freshKey().PK.S}` };
        const key = freshKey();
        await put({ ...key, aggregateKey: aggregate, status: { S: 'RECEIVED' } });
        const { Items } = await query({
          IndexName: 'byAggregate',
          KeyConditionExpression: 'aggregateKey = :key',
          ExpressionAttributeValues: { ':key': aggregate },
        });
        expect(Items).toEqual([{ ...key, aggregateKey: aggregate }]);
      });

      it('refuses a consistent read', async () => {
        const failure = await failureOf(query({ ...byStatus('x'), ConsistentRead: true }));
        expect(failure.name).toBe('ValidationException');
        expect(failure.message).toContain(
          wording(
            table,
            'Consistent reads are not supported on global secondary indexes',
            'Consistent read cannot be true when querying a GSI',
          ),
        );
      });

      it('refuses a name that does not exist', async () => {
        const failure = await failureOf(query({ ...byStatus('x'), IndexName: 'noSuchIndex' }));
        expect(failure.name).toBe('ValidationException');
        expect(failure.message).toContain('The table does not have the specified index');
      });
    });

    it('scans every item once over pages', async () => {
      const marker = { S: freshKey().PK.S };
      const keys = Array.from({ length: 7 }, () => freshKey());
      await put(...keys.map((key) => ({ ...key, marker })));
      const seen: (string | undefined)[] = [];
      let start: Record<string, AttributeValue> | undefined;
      do {
        const page = await table.client.send(
          new ScanCommand({
            TableName,
            Limit: 3,
            ConsistentRead: true,
            FilterExpression: 'marker = :marker',
            ExpressionAttributeValues: { ':marker': marker },
            ExclusiveStartKey: start,
          }),
        );
        seen.push(...(page.Items ?? []).map((item) => item.PK?.S));
        start = page.LastEvaluatedKey;
      } while (start !== undefined);
      expect(seen.toSorted()).toEqual(keys.map((key) => key.PK.S).toSorted());
    });
  });
}
