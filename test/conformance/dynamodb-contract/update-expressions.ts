import {
  type AttributeValue,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { failureOf, freshKey, type Subject, useTable, wording } from './setup.ts';

type Update = Omit<UpdateItemCommandInput, 'TableName' | 'Key'>;

export function updateExpressions(subject: Subject): void {
  describe('update expressions', () => {
    const table = useTable(subject);
    const TableName = table.name;

    /** Updates an item with these attributes and returns what is stored then, without the key. */
    async function updated(before: Record<string, AttributeValue>, update: Update) {
      const key = freshKey();
      await table.client.send(new PutItemCommand({ TableName, Item: { ...key, ...before } }));
      await table.client.send(new UpdateItemCommand({ TableName, Key: key, ...update }));
      const { Item = {} } = await table.client.send(
        new GetItemCommand({ TableName, Key: key, ConsistentRead: true }),
      );
      const { PK: _, SK: __, ...attributes } = Item;
      return attributes;
    }

    async function refused(before: Record<string, AttributeValue>, update: Update) {
      return failureOf(updated(before, update));
    }

    it('creates the item when there is none', async () => {
      const key = freshKey();
      const { Attributes } = await table.client.send(
        new UpdateItemCommand({
          TableName,
          Key: key,
          UpdateExpression: 'SET revision = if_not_exists(revision, :zero) + :one ADD receiveCount :one',
          ExpressionAttributeValues: { ':zero': { N: '0' }, ':one': { N: '1' } },
          ReturnValues: 'ALL_NEW',
        }),
      );
      expect(Attributes).toEqual({ ...key, revision: { N: '1' }, receiveCount: { N: '1' } });
    });

    it('keeps what if_not_exists finds', async () => {
      expect(
        await updated(
          { firstSeenAt: { S: 'then' }, revision: { N: '4' } },
          {
            UpdateExpression:
              'SET firstSeenAt = if_not_exists(firstSeenAt, :now), revision = if_not_exists(revision, :zero) + :one',
            ExpressionAttributeValues: { ':now': { S: 'now' }, ':zero': { N: '0' }, ':one': { N: '1' } },
          },
        ),
      ).toEqual({ firstSeenAt: { S: 'then' }, revision: { N: '5' } });
    });

    it('reads every operand from the item as it was', async () => {
      expect(
        await updated({ a: { N: '1' }, b: { N: '2' } }, { UpdateExpression: 'SET a = b, b = a' }),
      ).toEqual({ a: { N: '2' }, b: { N: '1' } });
    });

    it('keeps attributes apart that were set from each other', async () => {
      expect(
        await updated(
          { origin: { M: { n: { N: '1' } } }, copy1: { M: {} } },
          { UpdateExpression: 'SET copy1 = origin REMOVE origin.n' },
        ),
      ).toEqual({ origin: { M: {} }, copy1: { M: { n: { N: '1' } } } });
    });

    it('adds to numbers and sets, creating them when absent', async () => {
      expect(
        await updated(
          { count: { N: '1' }, tags: { SS: ['a'] } },
          {
            UpdateExpression: 'ADD #count :n, fresh :n, tags :tags, newTags :tags',
            ExpressionAttributeNames: { '#count': 'count' },
            ExpressionAttributeValues: { ':n': { N: '-2.5' }, ':tags': { SS: ['b'] } },
          },
        ),
      ).toEqual({
        count: { N: '-1.5' },
        fresh: { N: '-2.5' },
        tags: { SS: ['a', 'b'] },
        newTags: { SS: ['b'] },
      });
    });

    it('removes attributes, nested ones and list elements by their positions before', async () => {
      expect(
        await updated(
          {
            gone: { S: 'x' },
            map: { M: { a: { S: '1' }, b: { S: '2' } } },
            letters: { L: ['a', 'b', 'c', 'd'].map((S) => ({ S })) },
          },
          {
            UpdateExpression: 'REMOVE gone, neverThere, #map.a, letters[0], letters[2]',
            ExpressionAttributeNames: { '#map': 'map' },
          },
        ),
      ).toEqual({ map: { M: { b: { S: '2' } } }, letters: { L: [{ S: 'b' }, { S: 'd' }] } });
    });

    it('appends to lists with list_append', async () => {
      expect(
        await updated(
          { history: { L: [{ N: '1' }] } },
          {
            UpdateExpression:
              'SET history = list_append(history, :more), fresh = list_append(if_not_exists(fresh, :none), :more)',
            ExpressionAttributeValues: { ':more': { L: [{ N: '2' }] }, ':none': { L: [] } },
          },
        ),
      ).toEqual({ history: { L: [{ N: '1' }, { N: '2' }] }, fresh: { L: [{ N: '2' }] } });
    });

    it('sets a list element, or appends when the index is beyond the end', async () => {
      expect(
        await updated(
          { letters: { L: [{ S: 'a' }] } },
          {
            UpdateExpression: 'SET letters[0] = :b, letters[7] = :c',
            ExpressionAttributeValues: { ':b': { S: 'b' }, ':c': { S: 'c' } },
          },
        ),
      ).toEqual({ letters: { L: [{ S: 'b' }, { S: 'c' }] } });
    });

    it('deletes elements of a set, and the set with its last element', async () => {
      expect(
        await updated(
          { tags: { SS: ['a', 'b'] }, last: { SS: ['a'] } },
          {
            UpdateExpression: 'DELETE tags :a, #last :a',
            ExpressionAttributeNames: { '#last': 'last' },
            ExpressionAttributeValues: { ':a': { SS: ['a'] } },
          },
        ),
      ).toEqual({ tags: { SS: ['b'] } });
    });

    it('takes attribute names with special characters through placeholders', async () => {
      expect(
        await updated(
          {},
          {
            UpdateExpression: 'SET #version = :one',
            ConditionExpression: 'attribute_not_exists(#version) OR #version < :one',
            ExpressionAttributeNames: { '#version': 'version#CaseStageChanged' },
            ExpressionAttributeValues: { ':one': { N: '1' } },
          },
        ),
      ).toEqual({ 'version#CaseStageChanged': { N: '1' } });
    });

    it('returns the values that ReturnValues asks for', async () => {
      const key = freshKey();
      await table.client.send(
        new PutItemCommand({ TableName, Item: { ...key, attempts: { N: '1' }, other: { S: 'x' } } }),
      );
      const returned = async (ReturnValues: 'ALL_OLD' | 'UPDATED_OLD' | 'UPDATED_NEW' | 'NONE') => {
        const { Attributes } = await table.client.send(
          new UpdateItemCommand({
            TableName,
            Key: key,
            UpdateExpression: 'SET attempts = attempts + :one',
            ExpressionAttributeValues: { ':one': { N: '1' } },
            ReturnValues,
          }),
        );
        return Attributes;
      };
      expect(await returned('ALL_OLD')).toEqual({ ...key, attempts: { N: '1' }, other: { S: 'x' } });
      expect(await returned('UPDATED_OLD')).toEqual({ attempts: { N: '2' } });
      expect(await returned('UPDATED_NEW')).toEqual({ attempts: { N: '4' } });
      expect(await returned('NONE')).toBeUndefined();
    });

    it('refuses an operand that is not there', async () => {
      const failure = await refused(
        {},
        {
          UpdateExpression: 'SET revision = revision + :one',
          ExpressionAttributeValues: { ':one': { N: '1' } },
        },
      );
      expect(failure.name).toBe('ValidationException');
      expect(failure.message).toContain('refers to an attribute that does not exist in the item');
    });

    it('refuses to add a number to a string', async () => {
      const failure = await refused(
        { label: { S: 'x' } },
        { UpdateExpression: 'ADD label :one', ExpressionAttributeValues: { ':one': { N: '1' } } },
      );
      expect(failure.name).toBe('ValidationException');
      expect(failure.message).toContain('incorrect data type');
    });

    it('refuses a path whose parent is not there', async () => {
      const failure = await refused(
        {},
        { UpdateExpression: 'SET a.b = :one', ExpressionAttributeValues: { ':one': { N: '1' } } },
      );
      expect(failure.name).toBe('ValidationException');
      expect(failure.message).toContain('document path provided in the update expression is invalid');
    });

    it('refuses to change a key attribute', async () => {
      const failure = await refused(
        {},
        { UpdateExpression: 'SET SK = :x', ExpressionAttributeValues: { ':x': { S: 'x' } } },
      );
      expect(failure.name).toBe('ValidationException');
      expect(failure.message).toContain('Cannot update attribute SK. This attribute is part of the key');
    });

    it('refuses overlapping paths, reserved words and unused placeholders', async () => {
      const one = { ':one': { N: '1' } };
      const overlap = await refused(
        {},
        { UpdateExpression: 'SET a = :one, a = :one', ExpressionAttributeValues: one },
      );
      const reserved = await refused(
        {},
        { UpdateExpression: 'SET status = :one', ExpressionAttributeValues: one },
      );
      const unused = await refused(
        {},
        { UpdateExpression: 'SET a = :one', ExpressionAttributeValues: { ...one, ':two': { N: '2' } } },
      );
      expect([overlap.name, reserved.name, unused.name]).toEqual(Array(3).fill('ValidationException'));
      expect(overlap.message).toContain('Two document paths overlap');
      expect(reserved.message).toContain('Attribute name is a reserved keyword');
      expect(unused.message).toContain('unused in expressions');
    });

    it('refuses a number with more than 38 digits as the result', async () => {
      const failure = await refused(
        { big: { N: '99999999999999999999999999999999999999' } },
        { UpdateExpression: 'ADD big :tenth', ExpressionAttributeValues: { ':tenth': { N: '0.1' } } },
      );
      expect(failure.name).toBe('ValidationException');
      expect(failure.message).toContain(wording(table, '38 significant digits', 'precision up to 38 digits'));
    });
  });
}
