import { TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settle } from '../../../local/drive.ts';
import { createSubject, createTable, key, put, stored, TABLE } from './harness.ts';

const ACCOUNTS = ['a', 'b', 'c'];
const START = 10;
const account = fc.integer({ min: 0, max: ACCOUNTS.length - 1 });
const transfer = fc.record({
  from: account,
  step: fc.integer({ min: 1, max: ACCOUNTS.length - 1 }),
  amount: fc.integer({ min: 1, max: 12 }),
  startsAt: fc.integer({ min: 0, max: 20 }),
  takes: fc.integer({ min: 0, max: 10 }),
});

describe('transactions that overlap', () => {
  it('neither lose nor make anything, and never break a condition', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(transfer, { maxLength: 12 }), async (transfers) => {
        const latencies = transfers.toSorted((left, right) => left.startsAt - right.startsAt);
        let next = 0;
        const subject = createSubject({ latency: { transaction: () => latencies[next++]?.takes ?? 0 } });
        await createTable(subject);
        for (const name of ACCOUNTS) {
          await put(subject, { ...key(name), balance: { N: String(START) } });
        }
        const balance = (index: number, sign: '+' | '-', amount: number) => ({
          Update: {
            TableName: TABLE,
            Key: key(ACCOUNTS[index] ?? ''),
            UpdateExpression: `SET balance = balance ${sign} :amount`,
            ExpressionAttributeValues: { ':amount': { N: String(amount) } },
            ...(sign === '-' ? { ConditionExpression: 'balance >= :amount' } : {}),
          },
        });
        const outcomes: Promise<'done' | 'cancelled'>[] = [];
        for (let now = 0; now <= 31; now++) {
          for (const { from, step, amount } of latencies.filter((each) => each.startsAt === now)) {
            outcomes.push(
              subject.client
                .send(
                  new TransactWriteItemsCommand({
                    TransactItems: [
                      balance(from, '-', amount),
                      balance((from + step) % ACCOUNTS.length, '+', amount),
                    ],
                  }),
                )
                .then(
                  () => 'done' as const,
                  (error: unknown) => {
                    expect(error).toHaveProperty('name', 'TransactionCanceledException');
                    return 'cancelled' as const;
                  },
                ),
            );
          }
          await settle(() => 0);
          subject.clock.moveTo(subject.clock.now() + 1);
        }
        const done = (await Promise.all(outcomes)).filter((outcome) => outcome === 'done').length;
        const items = await Promise.all(ACCOUNTS.map((name) => stored(subject, key(name))));
        const balances = items.map((item) => Number(item?.balance?.N));
        expect(balances.every((each) => each >= 0)).toBe(true);
        expect(balances.reduce((sum, each) => sum + each, 0)).toBe(ACCOUNTS.length * START);
        const { records } = subject.dynamoDb.readStream({ tableName: TABLE });
        expect(records.length).toBe(ACCOUNTS.length + 2 * done);
      }),
      { numRuns: 60 },
    );
  });
});
