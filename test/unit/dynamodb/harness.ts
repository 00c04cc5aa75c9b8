import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { createDynamoDb, type DynamoDbOptions } from '../../../local/dynamodb/dynamodb.ts';
import { inProcessClientConfig } from '../../../local/edge/client-config.ts';
import { createInProcessRequestHandler } from '../../../local/edge/request-handler.ts';
import { createVirtualClock } from '../../../local/virtual-clock.ts';

export const TABLE = 'work';

/** An embedded DynamoDB in virtual time with a client that never retries. */
export function createSubject(options: Partial<DynamoDbOptions> = {}) {
  const clock = createVirtualClock();
  let ids = 0;
  const newId = () => `00000000-0000-0000-0000-${String(++ids).padStart(12, '0')}`;
  const dynamoDb = createDynamoDb({ clock, newId, ...options });
  const client = new DynamoDBClient(
    inProcessClientConfig({
      requestHandler: createInProcessRequestHandler(dynamoDb.dispatch),
      clock,
      random: () => 0,
      maxAttempts: 1,
    }),
  );
  return { clock, dynamoDb, client };
}

export type Subject = ReturnType<typeof createSubject>;

/** Creates a table with string keys PK and SK and a stream, unless the overrides say otherwise. */
export async function createTable(
  { client }: Subject,
  overrides: Partial<CreateTableCommandInput> = {},
): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName: TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'PK', AttributeType: 'S' },
        { AttributeName: 'SK', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'PK', KeyType: 'HASH' },
        { AttributeName: 'SK', KeyType: 'RANGE' },
      ],
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
      ...overrides,
    }),
  );
}

export function key(partition: string, sort = 'META') {
  return { PK: { S: partition }, SK: { S: sort } };
}

export async function put(
  { client }: Subject,
  item: ReturnType<typeof key> & Record<string, { S: string } | { N: string }>,
) {
  await client.send(new PutItemCommand({ TableName: TABLE, Item: item }));
}

export async function stored({ client }: Subject, at: ReturnType<typeof key>) {
  const { Item } = await client.send(new GetItemCommand({ TableName: TABLE, Key: at, ConsistentRead: true }));
  return Item;
}
