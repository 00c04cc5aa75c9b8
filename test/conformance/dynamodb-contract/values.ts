import { type AttributeValue, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { failureOf, freshKey, type Subject, useTable, wording } from './setup.ts';

const KILOBYTE = 1024;

function nested(levels: number): AttributeValue {
  return levels === 0 ? { S: 'deep' } : { L: [nested(levels - 1)] };
}

export function values(subject: Subject): void {
  describe('values, keys and sizes', () => {
    const table = useTable(subject);
    const TableName = table.name;

    async function roundTrip(value: AttributeValue) {
      const key = freshKey();
      await table.client.send(new PutItemCommand({ TableName, Item: { ...key, value } }));
      const { Item } = await table.client.send(
        new GetItemCommand({ TableName, Key: key, ConsistentRead: true }),
      );
      return Item?.value;
    }

    function put(Item: Record<string, AttributeValue>) {
      return table.client.send(new PutItemCommand({ TableName, Item }));
    }

    it.each<[string, AttributeValue]>([
      ['text', { S: 'héllo wörld 🎉' }],
      ['an empty string', { S: '' }],
      ['null', { NULL: true }],
      ['true', { BOOL: true }],
      ['false', { BOOL: false }],
      ['a negative fraction', { N: '-0.001' }],
      ['38 digits', { N: '12345678901234567890123456789012345678' }],
      ['bytes', { B: new Uint8Array([0, 255, 10]) }],
      ['no bytes', { B: new Uint8Array([]) }],
      ['a string set', { SS: ['a', 'b'] }],
      ['a number set', { NS: ['1', '2'] }],
      ['31 levels', nested(31)],
      ['an empty list and an empty map', { L: [{ L: [] }, { M: {} }] }],
      [
        'nested values',
        {
          M: {
            list: { L: [{ N: '1' }, { NULL: true }, { M: { deep: { BOOL: false } } }] },
            '#a.b': { S: 'x' },
          },
        },
      ],
    ])('keeps %s as it is', async (_, value) => {
      expect(await roundTrip(value)).toEqual(value);
    });

    it.each([
      ['1.0', '1'],
      ['0012', '12'],
      ['1e3', '1000'],
      ['-0', '0'],
      ['1.50', '1.5'],
    ])('normalises the number %s to %s', async (sent, kept) => {
      expect(await roundTrip({ N: sent })).toEqual({ N: kept });
    });

    it.each<[string, AttributeValue, string, string?]>([
      [
        '39 digits',
        { N: '123456789012345678901234567890123456789' },
        '38 significant digits',
        'precision up to 38 digits',
      ],
      ['a number that is too large', { N: '1e126' }, 'Number overflow'],
      ['a number that is too small', { N: '1e-131' }, 'Number underflow'],
      [
        'text as a number',
        { N: 'twelve' },
        'cannot be converted to a numeric value',
        'cannot be converted into a number',
      ],
      ['an empty string set', { SS: [] }, 'may not be empty'],
      ['a set with duplicates', { SS: ['a', 'a'] }, 'contains duplicates'],
      ['an empty attribute name inside a map', { M: { '': { S: 'x' } } }, 'Empty attribute name'],
      ['null that is false', { NULL: false }, 'Null attribute value types must have the value of true'],
      ['more than 32 levels', nested(33), 'Nesting Levels have exceeded supported limits'],
    ])('refuses %s', async (_, value, message, local = message) => {
      const failure = await failureOf(roundTrip(value));
      expect(failure.name).toBe('ValidationException');
      expect(failure.message).toContain(wording(table, message, local));
    });

    it('refuses an item without its sort key', async () => {
      const failure = await failureOf(put({ PK: { S: 'x' } }));
      expect(failure.name).toBe('ValidationException');
      expect(failure.message).toContain(
        wording(table, 'Missing the key SK in the item', 'required keys was not given a value'),
      );
    });

    it('refuses a key of another type', async () => {
      const failure = await failureOf(put({ PK: { S: 'x' }, SK: { N: '1' } }));
      expect(failure.name).toBe('ValidationException');
      expect(failure.message).toContain(
        wording(table, 'Type mismatch for key SK expected: S actual: N', 'Type mismatch for key'),
      );
    });

    it('refuses an empty key', async () => {
      const failure = await failureOf(put({ PK: { S: 'x' }, SK: { S: '' } }));
      expect(failure.name).toBe('ValidationException');
      expect(failure.message).toContain('cannot contain an empty string value');
    });

    it('refuses a read with too few or too many key attributes', async () => {
      const get = (Key: Record<string, AttributeValue>) =>
        failureOf(table.client.send(new GetItemCommand({ TableName, Key })));
      const few = await get({ PK: { S: 'x' } });
      const many = await get({ ...freshKey(), other: { S: 'x' } });
      expect([few.name, many.name]).toEqual(['ValidationException', 'ValidationException']);
      const mismatch = 'The provided key element does not match the schema';
      const local = 'The number of conditions on the keys is invalid';
      expect(few.message).toContain(wording(table, mismatch, local));
      expect(many.message).toContain(wording(table, mismatch, local));
    });

    it('refuses an index key of another type', async () => {
      const failure = await failureOf(put({ ...freshKey(), statusKey: { N: '1' } }));
      expect(failure.name).toBe('ValidationException');
      expect(failure.message).toContain(
        wording(
          table,
          'Type mismatch for Index Key statusKey Expected: S Actual: N',
          'Type mismatch for Index Key',
        ),
      );
    });

    it('refuses an empty index key', async () => {
      const failure = await failureOf(put({ ...freshKey(), statusKey: { S: '' } }));
      expect(failure.name).toBe('ValidationException');
      expect(failure.message).toContain('empty string value');
    });

    it('takes a partition key of 2048 bytes and refuses a longer one, counting bytes', async () => {
      const { PK } = freshKey();
      const prefix = `${PK.S}-`;
      const longest = prefix + 'é'.repeat((2 * KILOBYTE - Buffer.byteLength(prefix) - 1) / 2);
      await put({ PK: { S: longest }, SK: { S: 'META' } });
      const failure = await failureOf(put({ PK: { S: `${longest}éé` }, SK: { S: 'META' } }));
      expect(failure.name).toBe('ValidationException');
      expect(failure.message).toContain(wording(table, 'Size of hashkey', 'Hash primary key values'));
    });

    it('takes a sort key of 1024 bytes and refuses a longer one', async () => {
      const { PK } = freshKey();
      await put({ PK, SK: { S: 's'.repeat(KILOBYTE) } });
      const failure = await failureOf(put({ PK, SK: { S: 's'.repeat(KILOBYTE + 1) } }));
      expect(failure.name).toBe('ValidationException');
      expect(failure.message).toContain('1024 bytes');
    });

    it('takes an item of 400 KB and refuses a larger one, names included', async () => {
      const key = freshKey();
      const others = Buffer.byteLength(`PK${key.PK.S}SK${key.SK.S}text`);
      const text = 'x'.repeat(400 * KILOBYTE - others);
      await put({ ...key, text: { S: text } });
      const failure = await failureOf(put({ ...key, text: { S: `${text}x` } }));
      expect(failure.name).toBe('ValidationException');
      expect(failure.message).toContain('Item size has exceeded the maximum allowed size');
    });

    it('counts the size of text in UTF-8 bytes', async () => {
      const failure = await failureOf(put({ ...freshKey(), text: { S: 'é'.repeat(201 * KILOBYTE) } }));
      expect(failure.name).toBe('ValidationException');
      expect(failure.message).toContain('Item size has exceeded the maximum allowed size');
    });
  });
}
