import { CreateTableCommand, DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../lambdas/core/json.ts';
import { createDynamoDb, type DynamoDb } from '../../../local/dynamodb/dynamodb.ts';
import { inProcessClientConfig, LOCAL_ACCOUNT, LOCAL_REGION } from '../../../local/edge/client-config.ts';
import type { Dispatch } from '../../../local/edge/http.ts';
import { createInProcessRequestHandler } from '../../../local/edge/request-handler.ts';
import { createLambdaInvoker } from '../../../local/event-sources/lambda-invoker.ts';
import { createSqsDispatch, createSqsStore } from '../../../local/sqs/index.ts';
import { StateError } from '../../../local/stepfunctions/errors.ts';
import { createTaskServices } from '../../../local/stepfunctions/services/create-task-services.ts';
import { INTEGRATIONS } from '../../../local/stepfunctions/services/integrations.ts';
import { createVirtualClock } from '../../../local/virtual-clock.ts';

const clock = createVirtualClock();
let count = 0;
const newId = () => `id-${++count}`;
const key = { PK: { S: 'a' } };

function clientConfig(dispatch: Dispatch) {
  const requestHandler = createInProcessRequestHandler(dispatch);
  return inProcessClientConfig({ requestHandler, clock, random: () => 0, maxAttempts: 1 });
}

function setUp() {
  const database: DynamoDb = createDynamoDb({ clock, newId });
  const dynamodb = new DynamoDBClient(clientConfig((request) => database.dispatch(request)));
  const store = createSqsStore({ clock, newId, region: LOCAL_REGION, account: LOCAL_ACCOUNT });
  const sqs = new SQSClient(clientConfig(createSqsDispatch({ store, clock })));
  const lambdas = createLambdaInvoker({
    clock,
    newId,
    functions: {
      work: { timeoutSeconds: 3, handler: async (event: JsonObject) => ({ seen: event }) },
      broken: {
        timeoutSeconds: 3,
        handler: async () => {
          throw new RangeError('Too far.');
        },
      },
      full: { timeoutSeconds: 3, reservedConcurrency: 0, handler: async () => ({}) },
    },
  });
  return {
    database,
    dynamodb,
    sqs,
    services: createTaskServices({ clients: { dynamodb, sqs }, lambdas, newId }),
  };
}

async function failureOf(work: Promise<unknown>): Promise<StateError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof StateError) return error;
    throw error;
  }
  throw new Error('It did not fail.');
}

let services: ReturnType<typeof setUp>['services'];
let dynamodb: DynamoDBClient;
let sqs: SQSClient;
let database: DynamoDb;

beforeEach(async () => {
  ({ services, dynamodb, sqs, database } = setUp());
  await dynamodb.send(
    new CreateTableCommand({
      TableName: 'table',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'PK', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }],
    }),
  );
});
afterEach(() => database.close());

const put = (fields: JsonObject = {}): JsonObject => ({
  TableName: 'table',
  Item: { ...key, n: { N: '1' } },
  ConditionExpression: 'attribute_not_exists(PK)',
  ...fields,
});

describe('DynamoDB tasks', () => {
  it('write, read, update, query and delete items', async () => {
    await services.callAws('aws-sdk:dynamodb', 'putItem', put());
    const updated = await services.callAws('aws-sdk:dynamodb', 'updateItem', {
      TableName: 'table',
      Key: key,
      UpdateExpression: 'SET n = n + :one',
      ExpressionAttributeValues: { ':one': { N: '1' } },
      ReturnValues: 'ALL_NEW',
    });
    const found = await services.callAws('aws-sdk:dynamodb', 'query', {
      TableName: 'table',
      KeyConditionExpression: 'PK = :pk',
      ExpressionAttributeValues: { ':pk': { S: 'a' } },
    });
    const deleted = await services.callAws('aws-sdk:dynamodb', 'deleteItem', {
      TableName: 'table',
      Key: key,
    });
    const missing = await services.callAws('aws-sdk:dynamodb', 'getItem', { TableName: 'table', Key: key });

    expect(updated).toEqual({ Attributes: { PK: { S: 'a' }, n: { N: '2' } } });
    expect(found).toEqual({ Count: 1, ScannedCount: 1, Items: [{ PK: { S: 'a' }, n: { N: '2' } }] });
    expect([deleted, missing]).toEqual([{}, {}]);
  });

  it('report the HTTP exchange with the optimized integration', async () => {
    const answer = await services.callAws('dynamodb', 'getItem', { TableName: 'table', Key: key });

    expect(answer).toMatchObject({ SdkHttpMetadata: { HttpStatusCode: 200 } });
  });

  it('take both spellings of the tags, and give each integration its own', async () => {
    const sets = { Bool: true };
    const item = {
      ...key,
      flag: sets,
      none: { Nul: true },
      many: { Ss: ['x'] },
      deep: { M: { l: { L: [{ BOOL: false }] } } },
      raw: { B: 'AQID' },
    };
    await services.callAws('aws-sdk:dynamodb', 'putItem', put({ Item: item }));

    const bySdk = await services.callAws('aws-sdk:dynamodb', 'getItem', { TableName: 'table', Key: key });
    const optimized = await services.callAws('dynamodb', 'getItem', { TableName: 'table', Key: key });
    const { Item: stored } = await dynamodb.send(new GetItemCommand({ TableName: 'table', Key: key }));

    expect(bySdk).toEqual({
      Item: { ...item, deep: { M: { l: { L: [{ Bool: false }] } } } },
    });
    expect(optimized).toMatchObject({
      Item: { flag: { BOOL: true }, none: { NULL: true }, many: { SS: ['x'] } },
    });
    expect(stored?.raw?.B).toEqual(new Uint8Array([1, 2, 3]));
  });

  it.each([
    ['dynamodb', 'DynamoDB.ConditionalCheckFailedException'],
    ['aws-sdk:dynamodb', 'DynamoDb.ConditionalCheckFailedException'],
  ])('name a failed condition of %s %s', async (service, error) => {
    await services.callAws(service, 'putItem', put());

    const failure = await failureOf(services.callAws(service, 'putItem', put()));

    expect(failure.error).toBe(error);
    expect(failure.text).toMatch(
      /^The conditional request failed \(Service: DynamoDb, Status Code: 400, Request ID: \S+\)$/,
    );
  });

  it('carry out a transaction or nothing', async () => {
    await services.callAws('aws-sdk:dynamodb', 'putItem', put());
    const transaction = {
      TransactItems: [
        { Put: put({ Item: { PK: { S: 'b' } } }) },
        { ConditionCheck: { TableName: 'table', Key: key, ConditionExpression: 'attribute_not_exists(PK)' } },
      ],
    };

    const failure = await failureOf(services.callAws('aws-sdk:dynamodb', 'transactWriteItems', transaction));

    expect(failure.error).toBe('DynamoDb.TransactionCanceledException');
    expect(failure.text).toContain('[None, ConditionalCheckFailed]');
    const other = { TableName: 'table', Key: { PK: { S: 'b' } } };
    expect(await services.callAws('aws-sdk:dynamodb', 'getItem', other)).toEqual({});
  });

  it.each<[string, JsonObject]>([
    ['a parameter nobody knows', put({ Itme: {} })],
    ['a number where a text belongs', put({ Item: { PK: { N: 1 } } })],
    ['an attribute without a tag', put({ Item: { PK: 'a' } })],
    ['an attribute with two tags', put({ Item: { PK: { S: 'a', N: '1' } } })],
    ['an unknown choice', put({ ReturnValues: 'SOME' })],
  ])('refuse %s', async (_title, parameters) => {
    const failure = await failureOf(services.callAws('aws-sdk:dynamodb', 'putItem', parameters));

    expect(failure.error).toBe('States.Runtime');
  });
});

describe('the integrations that a definition may name', () => {
  const named = [...INTEGRATIONS].filter(([name]) => name !== 'lambda:invoke');

  it.each(named)('%s takes the parameters that pass when it is loaded', async (name, { parameters }) => {
    const service = name.slice(0, name.lastIndexOf(':'));
    const action = name.slice(name.lastIndexOf(':') + 1);
    // A null is as good as absent, so what fails is the call itself.
    const nothing = Object.fromEntries(parameters.map((parameter) => [parameter, null]));

    const failure = await failureOf(services.callAws(service, action, nothing));

    expect(failure.error).not.toBe('States.Runtime');
  });
});

describe('SQS tasks', () => {
  it('send a text as it is and anything else as JSON', async () => {
    const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: 'queue' }));
    const parameters = {
      QueueUrl: QueueUrl ?? '',
      MessageBody: { a: 1 },
      MessageAttributes: { code: { DataType: 'String', StringValue: 'X' } },
    };

    const answer = await services.callAws('sqs', 'sendMessage', parameters);

    const { Messages } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MessageAttributeNames: ['All'] }),
    );
    expect(Messages?.[0]).toMatchObject({
      Body: '{"a":1}',
      MessageAttributes: { code: { StringValue: 'X' } },
    });
    expect(answer).toMatchObject({ MessageId: Messages?.[0]?.MessageId });
  });

  it('name errors with Exception at the end', async () => {
    const parameters = { QueueUrl: `http://127.0.0.1/${LOCAL_ACCOUNT}/none`, MessageBody: 'x' };

    expect((await failureOf(services.callAws('sqs', 'sendMessage', parameters))).error).toMatch(
      /^SQS\.\w+Exception$/,
    );
    expect((await failureOf(services.callAws('aws-sdk:sqs', 'sendMessage', parameters))).error).toMatch(
      /^Sqs\.\w+Exception$/,
    );
  });
});

describe('Lambda tasks', () => {
  it.each([
    'work',
    'arn:aws:lambda:us-east-1:000000000000:function:work',
    'arn:aws:lambda:us-east-1:000000000000:function:work:$LATEST',
  ])('invoke %s', async (functionName) => {
    expect(await services.invokeLambda(functionName, '{"a":1}')).toEqual({ payload: { seen: { a: 1 } } });
  });

  it('give the error of a function that throws', async () => {
    const answer = await services.invokeLambda('broken', '{}');

    expect(answer).toMatchObject({ functionError: { errorType: 'RangeError', errorMessage: 'Too far.' } });
  });

  it.each([
    ['none', 'Lambda.ResourceNotFoundException'],
    ['full', 'Lambda.TooManyRequestsException'],
  ])('fail for the function %s with %s', async (functionName, error) => {
    expect((await failureOf(services.invokeLambda(functionName, '{}'))).error).toBe(error);
  });
});
