import {
  DeleteTableCommand,
  PutItemCommand,
  TransactGetItemsCommand,
  TransactionCanceledException,
  TransactionConflictException,
  TransactionInProgressException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { settle } from '../../../local/drive.ts';
import { createSubject, createTable, key, type Subject, stored, TABLE } from './harness.ts';

const LATENCY_MS = 20;
const TOKEN_MS = 10 * 60 * 1000;

function transaction(partitions: readonly string[], value: string, token?: string) {
  return new TransactWriteItemsCommand({
    ClientRequestToken: token ?? `token-${partitions.join('-')}-${value}`,
    TransactItems: partitions.map((partition) => ({
      Put: { TableName: TABLE, Item: { ...key(partition), value: { S: value } } },
    })),
  });
}

describe('a transaction that takes time', () => {
  let subject: Subject;

  beforeEach(async () => {
    subject = createSubject({ latency: { transaction: () => LATENCY_MS } });
    await createTable(subject);
  });

  /** Starts a transaction and waits until it holds its items. */
  async function start(partitions: readonly string[], value: string, token?: string) {
    const done = subject.client.send(transaction(partitions, value, token));
    await settle(() => 0);
    return { done, finish: () => subject.clock.moveTo(subject.clock.now() + LATENCY_MS) };
  }

  it('cancels another transaction on one of its items, naming the item by its position', async () => {
    const first = await start(['a', 'b'], 'first');
    const second = subject.client.send(transaction(['c', 'b'], 'second'));
    await expect(second).rejects.toBeInstanceOf(TransactionCanceledException);
    await expect(second).rejects.toMatchObject({
      message: expect.stringContaining('[None, TransactionConflict]'),
      CancellationReasons: [
        { Code: 'None' },
        { Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item' },
      ],
    });
    first.finish();
    await first.done;
    expect(await stored(subject, key('b'))).toMatchObject({ value: { S: 'first' } });
    expect(await stored(subject, key('c'))).toBeUndefined();
  });

  it('lets transactions on other items run beside it', async () => {
    const first = await start(['a'], 'first');
    const second = await start(['b'], 'second');
    first.finish();
    await Promise.all([first.done, second.done]);
    expect(await stored(subject, key('b'))).toMatchObject({ value: { S: 'second' } });
  });

  it('refuses a lone write to one of its items', async () => {
    const first = await start(['a'], 'first');
    const write = subject.client.send(new PutItemCommand({ TableName: TABLE, Item: key('a') }));
    await expect(write).rejects.toBeInstanceOf(TransactionConflictException);
    first.finish();
    await first.done;
    await subject.client.send(new PutItemCommand({ TableName: TABLE, Item: key('a') }));
    expect(await stored(subject, key('a'))).toEqual(key('a'));
  });

  it('shows readers the state before until it is done', async () => {
    const first = await start(['a'], 'first');
    expect(await stored(subject, key('a'))).toBeUndefined();
    first.finish();
    await first.done;
    expect(await stored(subject, key('a'))).toBeDefined();
  });

  it('cancels a transactional read of one of its items', async () => {
    const first = await start(['a'], 'first');
    const read = subject.client.send(
      new TransactGetItemsCommand({ TransactItems: [{ Get: { TableName: TABLE, Key: key('a') } }] }),
    );
    await expect(read).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'TransactionConflict' }],
    });
    first.finish();
    await first.done;
  });

  it('releases its items when a condition fails, without having taken time', async () => {
    const failing = subject.client.send(
      new TransactWriteItemsCommand({
        TransactItems: [
          { Put: { TableName: TABLE, Item: key('a') } },
          {
            ConditionCheck: { TableName: TABLE, Key: key('x'), ConditionExpression: 'attribute_exists(PK)' },
          },
        ],
      }),
    );
    await expect(failing).rejects.toBeInstanceOf(TransactionCanceledException);
    await subject.client.send(new PutItemCommand({ TableName: TABLE, Item: key('a') }));
    expect(await stored(subject, key('a'))).toEqual(key('a'));
  });

  it('answers a repetition of its token while under way with TransactionInProgressException', async () => {
    const first = await start(['a'], 'first', 'token');
    const again = subject.client.send(transaction(['a'], 'first', 'token'));
    await expect(again).rejects.toBeInstanceOf(TransactionInProgressException);
    first.finish();
    await first.done;
    await subject.client.send(transaction(['a'], 'first', 'token'));
    expect(subject.dynamoDb.readStream({ tableName: TABLE }).records).toHaveLength(1);
  });

  it('writes its stream records when it is done, not before', async () => {
    const first = await start(['a', 'b'], 'first');
    expect(subject.dynamoDb.readStream({ tableName: TABLE }).records).toEqual([]);
    first.finish();
    await first.done;
    const { records } = subject.dynamoDb.readStream({ tableName: TABLE });
    expect(records.map((record) => record.dynamodb.Keys.PK)).toEqual([{ S: 'a' }, { S: 'b' }]);
  });
});

describe('a lone write that takes time', () => {
  let subject: Subject;

  beforeEach(async () => {
    subject = createSubject({ latency: { write: () => LATENCY_MS } });
    await createTable(subject);
  });

  async function start(value: string) {
    const done = subject.client.send(
      new PutItemCommand({ TableName: TABLE, Item: { ...key('a'), value: { S: value } } }),
    );
    await settle(() => 0);
    return done;
  }

  it('cancels a transaction on its item', async () => {
    const done = start('lone');
    await settle(() => 0);
    await expect(subject.client.send(transaction(['b', 'a'], 'transaction'))).rejects.toMatchObject({
      CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
    });
    subject.clock.moveTo(subject.clock.now() + LATENCY_MS);
    await done;
    await subject.client.send(transaction(['b', 'a'], 'transaction'));
    expect(await stored(subject, key('a'))).toMatchObject({ value: { S: 'transaction' } });
  });

  it('lets other lone writes follow, each in its turn', async () => {
    const both = Promise.all([start('first'), start('second')]);
    await settle(() => 0);
    subject.clock.moveTo(subject.clock.now() + LATENCY_MS);
    await both;
    expect(await stored(subject, key('a'))).toMatchObject({ value: { S: 'second' } });
    expect(subject.dynamoDb.readStream({ tableName: TABLE }).records).toHaveLength(2);
  });
});

describe('a table', () => {
  it('that is deleted under a transaction makes it fail', async () => {
    const subject = createSubject({ latency: { transaction: () => LATENCY_MS } });
    await createTable(subject);
    const done = subject.client.send(transaction(['a'], 'late'));
    await settle(() => 0);
    await subject.client.send(new DeleteTableCommand({ TableName: TABLE }));
    subject.clock.moveTo(subject.clock.now() + LATENCY_MS);
    await expect(done).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });
});

describe('a client token', () => {
  it('is forgotten ten minutes after its transaction', async () => {
    const subject = createSubject();
    await createTable(subject);
    await subject.client.send(transaction(['a'], 'first', 'token'));
    subject.clock.moveTo(subject.clock.now() + TOKEN_MS - 1);
    await expect(subject.client.send(transaction(['a'], 'second', 'token'))).rejects.toMatchObject({
      name: 'IdempotentParameterMismatchException',
    });
    subject.clock.moveTo(subject.clock.now() + 1);
    await subject.client.send(transaction(['a'], 'second', 'token'));
    expect(await stored(subject, key('a'))).toMatchObject({ value: { S: 'second' } });
  });

  it('matches a request whose members come in another order', async () => {
    const subject = createSubject();
    await createTable(subject);
    const send = (Item: object) =>
      subject.dynamoDb.handle({
        target: 'DynamoDB_20120810.TransactWriteItems',
        body: JSON.stringify({
          ClientRequestToken: 'token',
          TransactItems: [{ Put: { TableName: TABLE, Item } }],
        }),
      });
    expect((await send({ PK: { S: 'a' }, SK: { S: 'b' } })).status).toBe(200);
    expect((await send({ SK: { S: 'b' }, PK: { S: 'a' } })).status).toBe(200);
  });
});
