import {
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { BREAKER_STATES, type Breaker } from '../core/breaker.ts';
import { numberOf } from '../core/ports.ts';
import { fromItem, toItem } from './items.ts';

const STATE = { PK: 'COUNTER#BREAKER', SK: 'STATE' } as const;
const REPORTS = { PK: 'COUNTER#BREAKER', SK: 'REPORTS' } as const;

/** The breaker, and the concurrency that its event source had before it opened. */
export interface StoredBreaker extends Breaker {
  readonly maxConcurrency?: number;
}

export async function readBreaker(
  client: DynamoDBClient,
  tableName: string,
): Promise<StoredBreaker | undefined> {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: tableName, Key: toItem(STATE), ConsistentRead: true }),
  );
  if (Item === undefined) return undefined;
  const row = fromItem(Item);
  const maxConcurrency = numberOf(row, 'maxConcurrency');
  return {
    state: BREAKER_STATES.find((known) => known === row.state) ?? 'closed',
    since: numberOf(row, 'since') ?? 0,
    openings: numberOf(row, 'openings') ?? 0,
    ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
  };
}

export async function writeBreaker(
  client: DynamoDBClient,
  tableName: string,
  breaker: StoredBreaker,
): Promise<void> {
  await client.send(new PutItemCommand({ TableName: tableName, Item: toItem({ ...STATE, ...breaker }) }));
}

/** Reports a batch of which not a single message could be started. */
export async function reportFailedBatch(client: DynamoDBClient, tableName: string): Promise<void> {
  await client.send(
    new UpdateItemCommand({
      TableName: tableName,
      Key: toItem(REPORTS),
      UpdateExpression: 'ADD failedBatches :one',
      ExpressionAttributeValues: toItem({ ':one': 1 }),
    }),
  );
}

/** Batches reported since the last call. */
export async function takeReports(client: DynamoDBClient, tableName: string): Promise<number> {
  const { Attributes = {} } = await client.send(
    new UpdateItemCommand({
      TableName: tableName,
      Key: toItem(REPORTS),
      UpdateExpression: 'SET failedBatches = :none',
      ExpressionAttributeValues: toItem({ ':none': 0 }),
      ReturnValues: 'UPDATED_OLD',
    }),
  );
  return numberOf(fromItem(Attributes), 'failedBatches') ?? 0;
}
