import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchGetItemCommand,
  CreateTableCommand,
  DynamoDBClient,
  PutItemCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { createDynamoDb, type DynamoDb } from '../local/dynamodb/dynamodb.ts';
import { inProcessClientConfig } from '../local/edge/client-config.ts';
import { createInProcessRequestHandler } from '../local/edge/request-handler.ts';

// What the embedded DynamoDB does a second with the calls that one message makes: the starter's inbox put,
// Plan's consistent batch read and Commit's transaction. `node bench/dynamodb.ts [messages]`

const MESSAGES = Number(process.argv[2] ?? 2000);
const CONCURRENCY = 10;
const CALLS_A_MESSAGE = 3;
const TableName = 'bench';
const clock = { now: () => Date.now(), sleep: (milliseconds: number) => sleep(milliseconds) };

async function createTable(client: DynamoDBClient): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['PK', 'SK', 'aggregateKey', 'statusKey'].map((AttributeName) => ({
        AttributeName,
        AttributeType: 'S',
      })),
      KeySchema: [
        { AttributeName: 'PK', KeyType: 'HASH' },
        { AttributeName: 'SK', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'byAggregate',
          KeySchema: [{ AttributeName: 'aggregateKey', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
        {
          IndexName: 'byStatus',
          KeySchema: [{ AttributeName: 'statusKey', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    }),
  );
}

async function message(client: DynamoDBClient, id: string): Promise<void> {
  const inbox = { PK: { S: `IDEMP#${id}` }, SK: { S: 'WORKER#bench' } };
  const aggregate = { PK: { S: `CASE#${id}` }, SK: { S: 'META' } };
  await client.send(
    new PutItemCommand({
      TableName,
      Item: {
        ...inbox,
        aggregateKey: aggregate.PK,
        status: { S: 'RECEIVED' },
        requestHash: { S: 'h'.repeat(64) },
        messageType: { S: 'CaseStageChanged' },
        executionName: { S: `case-${id}` },
        receiveCount: { N: '1' },
        firstSeenAt: { S: '2026-01-01T00:00:00.000Z' },
      },
      ConditionExpression: 'attribute_not_exists(PK)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }),
  );
  await client.send(
    new BatchGetItemCommand({
      RequestItems: { [TableName]: { Keys: [inbox, aggregate], ConsistentRead: true } },
    }),
  );
  await client.send(
    new TransactWriteItemsCommand({
      ClientRequestToken: id,
      TransactItems: [
        {
          Update: {
            TableName,
            Key: aggregate,
            UpdateExpression: 'SET #v = :v, revision = if_not_exists(revision, :zero) + :one, stage = :stage',
            ConditionExpression: 'attribute_not_exists(#v) OR #v < :v',
            ExpressionAttributeNames: { '#v': 'version#CaseStageChanged' },
            ExpressionAttributeValues: {
              ':v': { N: '1' },
              ':zero': { N: '0' },
              ':one': { N: '1' },
              ':stage': { S: 'OPEN' },
            },
          },
        },
        {
          Update: {
            TableName,
            Key: inbox,
            UpdateExpression: 'SET #s = :completed, completedAt = :now REMOVE statusKey',
            ConditionExpression: 'requestHash = :h AND #s <> :completed',
            ExpressionAttributeNames: { '#s': 'status' },
            ExpressionAttributeValues: {
              ':completed': { S: 'COMPLETED' },
              ':now': { S: '2026-01-01T00:00:01.000Z' },
              ':h': { S: 'h'.repeat(64) },
            },
          },
        },
      ],
    }),
  );
}

async function measure(name: string, client: DynamoDBClient): Promise<void> {
  await createTable(client);
  const started = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      while (next++ < MESSAGES) {
        await message(client, randomUUID());
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  const calls = Math.round((MESSAGES * CALLS_A_MESSAGE) / seconds);
  console.log(`${name}: ${calls} calls/s, ${Math.round(MESSAGES / seconds)} messages/s`);
  client.destroy();
}

function inProcess(dynamoDb: DynamoDb): DynamoDBClient {
  const requestHandler = createInProcessRequestHandler(dynamoDb.dispatch);
  return new DynamoDBClient(inProcessClientConfig({ requestHandler, clock, random: Math.random }));
}

await measure('warm-up', inProcess(createDynamoDb({ clock, newId: randomUUID })));
await measure('in process', inProcess(createDynamoDb({ clock, newId: randomUUID })));

const dataDir = mkdtempSync(join(tmpdir(), 'dynamodb-bench-'));
const durable = createDynamoDb({ clock, newId: randomUUID, dataDir });
await measure('in process, data directory', inProcess(durable));
await durable.close();
rmSync(dataDir, { recursive: true });

const served = createDynamoDb({ clock, newId: randomUUID });
const { url } = await served.listen();
await measure(
  'over HTTP',
  new DynamoDBClient({
    endpoint: url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  }),
);
await served.close();
