import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateTableCommand, DeleteTableCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll } from 'vitest';

/** What the contract runs against. */
export interface Subject {
  /** Which implementation it is: some differ from the service, and the tests say where. */
  readonly kind: 'embedded' | 'dynamodb-local';
  readonly client: () => DynamoDBClient;
}

/** A table like the one that is deployed, created before the tests of a `describe` and dropped after. */
export interface TestTable {
  readonly name: string;
  readonly client: DynamoDBClient;
  readonly kind: Subject['kind'];
}

/** Creates the table in `beforeAll`; the tests read it when they run. */
export function useTable(subject: Subject): TestTable {
  const name = `contract-${randomUUID()}`;
  const client = subject.client();
  beforeAll(async () => {
    await client.send(
      new CreateTableCommand({
        TableName: name,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: ['PK', 'SK', 'statusKey', 'statusSort', 'aggregateKey'].map(
          (AttributeName) => ({
            AttributeName,
            AttributeType: 'S',
          }),
        ),
        KeySchema: [
          { AttributeName: 'PK', KeyType: 'HASH' },
          { AttributeName: 'SK', KeyType: 'RANGE' },
        ],
        GlobalSecondaryIndexes: [
          {
            IndexName: 'byStatus',
            KeySchema: [
              { AttributeName: 'statusKey', KeyType: 'HASH' },
              { AttributeName: 'statusSort', KeyType: 'RANGE' },
            ],
            Projection: { ProjectionType: 'ALL' },
          },
          {
            IndexName: 'byAggregate',
            KeySchema: [{ AttributeName: 'aggregateKey', KeyType: 'HASH' }],
            Projection: { ProjectionType: 'KEYS_ONLY' },
          },
        ],
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
      }),
    );
    await waitUntilTableExists({ client, maxWaitTime: 30 }, { TableName: name });
  });
  afterAll(async () => {
    await client.send(new DeleteTableCommand({ TableName: name }));
    client.destroy();
  });
  return { name, client, kind: subject.kind };
}

/** A key that no other test uses. */
export function freshKey(sort = 'META') {
  return { PK: { S: `test#${randomUUID()}` }, SK: { S: sort } };
}

/** What an AWS error says, as far as the contract compares it. */
export interface Failure {
  readonly name: string;
  readonly message: string;
  readonly error: unknown;
}

/** Awaits the call's failure; throws when it succeeds. */
export async function failureOf(call: Promise<unknown>): Promise<Failure> {
  let answer: unknown;
  try {
    answer = await call;
  } catch (error) {
    if (error instanceof Error) {
      return { name: error.name, message: error.message, error };
    }
    throw error;
  }
  throw new Error(`expected a failure, got ${JSON.stringify(answer)}`);
}

/**
 * The part of a message that the contract compares. DynamoDB Local refuses the same requests, but words some of
 * its refusals in its own way.
 */
export function wording(table: TestTable, service: string, local: string): string {
  return table.kind === 'dynamodb-local' ? local : service;
}
