import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { failureOf, freshKey, type Subject, useTable } from './setup.ts';

export function conditionalWrites(subject: Subject): void {
  describe('conditional writes', () => {
    const table = useTable(subject);
    const TableName = table.name;

    async function stored(key: ReturnType<typeof freshKey>) {
      const { Item } = await table.client.send(
        new GetItemCommand({ TableName, Key: key, ConsistentRead: true }),
      );
      return Item;
    }

    it('puts an item when attribute_not_exists(PK) holds', async () => {
      const key = freshKey();
      await table.client.send(
        new PutItemCommand({
          TableName,
          Item: { ...key, status: { S: 'RECEIVED' } },
          ConditionExpression: 'attribute_not_exists(PK)',
        }),
      );
      expect(await stored(key)).toEqual({ ...key, status: { S: 'RECEIVED' } });
    });

    it('returns the item that was there when a put asks for ALL_OLD on failure', async () => {
      const key = freshKey();
      const first = { ...key, hash: { S: 'one' }, count: { N: '1' } };
      await table.client.send(new PutItemCommand({ TableName, Item: first }));
      const { error, message } = await failureOf(
        table.client.send(
          new PutItemCommand({
            TableName,
            Item: { ...key, hash: { S: 'two' } },
            ConditionExpression: 'attribute_not_exists(PK)',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        ),
      );
      expect(error).toBeInstanceOf(ConditionalCheckFailedException);
      expect(message).toBe('The conditional request failed');
      expect(error).toHaveProperty('Item', first);
      expect(await stored(key)).toEqual(first);
    });

    it('returns no item on failure when the write does not ask for it', async () => {
      const key = freshKey();
      await table.client.send(new PutItemCommand({ TableName, Item: key }));
      const { error } = await failureOf(
        table.client.send(
          new PutItemCommand({ TableName, Item: key, ConditionExpression: 'attribute_not_exists(PK)' }),
        ),
      );
      expect(error).toBeInstanceOf(ConditionalCheckFailedException);
      expect(error).toHaveProperty('Item', undefined);
    });

    it('returns no item on failure when there was none', async () => {
      const { error } = await failureOf(
        table.client.send(
          new UpdateItemCommand({
            TableName,
            Key: freshKey(),
            UpdateExpression: 'ADD receiveCount :one',
            ConditionExpression: 'attribute_exists(PK)',
            ExpressionAttributeValues: { ':one': { N: '1' } },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        ),
      );
      expect(error).toBeInstanceOf(ConditionalCheckFailedException);
      expect(error).toHaveProperty('Item', undefined);
    });

    it('returns the item that was there when an update or a delete fails', async () => {
      const key = freshKey();
      const item = { ...key, requestHash: { S: 'h' }, status: { S: 'COMPLETED' } };
      await table.client.send(new PutItemCommand({ TableName, Item: item }));
      const guard = {
        ConditionExpression: 'requestHash = :h AND #s <> :completed',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      } as const;
      const update = await failureOf(
        table.client.send(
          new UpdateItemCommand({
            TableName,
            Key: key,
            UpdateExpression: 'SET attempts = :n',
            ExpressionAttributeNames: { '#s': 'status' },
            ExpressionAttributeValues: {
              ':h': { S: 'h' },
              ':completed': { S: 'COMPLETED' },
              ':n': { N: '1' },
            },
            ...guard,
          }),
        ),
      );
      const remove = await failureOf(
        table.client.send(
          new DeleteItemCommand({
            TableName,
            Key: key,
            ExpressionAttributeNames: { '#s': 'status' },
            ExpressionAttributeValues: { ':h': { S: 'h' }, ':completed': { S: 'COMPLETED' } },
            ...guard,
          }),
        ),
      );
      expect(update.error).toHaveProperty('Item', item);
      expect(remove.error).toHaveProperty('Item', item);
      expect(await stored(key)).toEqual(item);
    });

    it('deletes only while the token is the one that was read', async () => {
      const key = freshKey('WAITER#0000000000000002#execution');
      await table.client.send(new PutItemCommand({ TableName, Item: { ...key, taskToken: { S: 'new' } } }));
      const remove = (token: string) =>
        table.client.send(
          new DeleteItemCommand({
            TableName,
            Key: key,
            ConditionExpression: 'taskToken = :token',
            ExpressionAttributeValues: { ':token': { S: token } },
            ReturnValues: 'ALL_OLD',
          }),
        );
      expect((await failureOf(remove('old'))).name).toBe('ConditionalCheckFailedException');
      expect((await remove('new')).Attributes).toEqual({ ...key, taskToken: { S: 'new' } });
      expect(await stored(key)).toBeUndefined();
    });

    it('refuses to compare an operand with itself', async () => {
      const failure = await failureOf(
        table.client.send(
          new PutItemCommand({ TableName, Item: freshKey(), ConditionExpression: 'version = version' }),
        ),
      );
      expect(failure.name).toBe('ValidationException');
      expect(failure.message).toContain('The first operand must be distinct from the remaining operands');
    });

    const item = {
      version: { N: '9' },
      label: { S: 'abc' },
      empty: { S: '' },
      nothing: { NULL: true },
      no: { BOOL: false },
      list: { L: [{ S: 'a' }, { N: '1' }] },
      map: { M: { deep: { S: 'x' } } },
      set: { SS: ['one', 'two'] },
    };
    const values = {
      ':nine': { N: '9' },
      ':ten': { N: '10' },
      ':text': { S: 'abc' },
      ':start': { S: 'ab' },
      ':other': { S: 'zz' },
      ':false': { BOOL: false },
      ':emptyText': { S: '' },
      ':null': { NULL: true },
      ':list': { L: [{ S: 'a' }, { N: '1' }] },
      ':map': { M: { deep: { S: 'x' } } },
      ':set': { SS: ['two', 'one'] },
      ':a': { S: 'a' },
    };

    it.each([
      ['version < :ten', true],
      ['version < :nine', false],
      ['version <= :nine', true],
      [':ten > version', true],
      ['absent < :ten', false],
      ['absent = :nine', false],
      ['absent <> :nine', true],
      ['absent = absentToo', false],
      ['version <> :nine', false],
      ['version <> :text', true],
      ['version < :text', false],
      ['attribute_not_exists(version) OR version < :ten', true],
      ['attribute_not_exists(version) OR version < :nine', false],
      ['attribute_not_exists(absent) OR absent < :nine', true],
      ['attribute_exists(version) AND NOT attribute_exists(absent)', true],
      ['attribute_exists(nothing) AND attribute_exists(#no) AND attribute_exists(#empty)', true],
      ['begins_with(label, :start)', true],
      ['begins_with(label, :other)', false],
      ['begins_with(absent, :start)', false],
      ['contains(label, :start) AND contains(#set, :other)', false],
      ['contains(#list, :a)', true],
      ['version BETWEEN :nine AND :ten', true],
      ['label IN (:other, :text)', true],
      ['#no IN (:false)', true],
      ['#empty IN (:emptyText)', true],
      ['nothing = :null AND #no = :false AND #empty = :emptyText', true],
      ['#list = :list', true],
      ['#map = :map AND #map.deep <> :text', true],
      ['#set = :set', true],
      ['size(label) < :nine AND size(#list) < :nine', true],
      ['size(#empty) < :nine', true],
      ['(version = :ten OR label = :text) AND NOT label = :other', true],
      ['version = :nine AND label = :other OR #no = :false', true],
      ['#map.absent = :text', false],
      ['#list[1] < :nine', true],
      ['#list[5] = :nine', false],
    ])('evaluates %s to %s', async (ConditionExpression, expected) => {
      const key = freshKey();
      await table.client.send(new PutItemCommand({ TableName, Item: { ...key, ...item } }));
      const names = { '#no': 'no', '#empty': 'empty', '#list': 'list', '#map': 'map', '#set': 'set' };
      const used = <Value>(all: Record<string, Value>) =>
        Object.fromEntries(
          Object.entries(all).filter(([name]) => new RegExp(`${name}\\b`).test(ConditionExpression)),
        );
      const usedNames = used(names);
      const usedValues = used(values);
      const outcome = await table.client
        .send(
          new DeleteItemCommand({
            TableName,
            Key: key,
            ConditionExpression,
            ...(Object.keys(usedNames).length > 0 ? { ExpressionAttributeNames: usedNames } : {}),
            ...(Object.keys(usedValues).length > 0 ? { ExpressionAttributeValues: usedValues } : {}),
          }),
        )
        .then(
          () => true,
          (error: unknown) => {
            if (error instanceof ConditionalCheckFailedException) {
              return false;
            }
            throw error;
          },
        );
      expect(outcome).toBe(expected);
    });
  });
}
