import {
  type AttributeValue,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { JsonObject, JsonValue } from '../../../lambdas/core/json.ts';
import { readAttributeValue, writeItem } from './attribute-values.ts';
import { type Parameters, readParameters, requireText, unusable } from './parameters.ts';

const RETURN_ON_FAILURE = ['ALL_OLD', 'NONE'] as const;
const RETURN_VALUES = ['ALL_NEW', 'ALL_OLD', 'NONE', 'UPDATED_NEW', 'UPDATED_OLD'] as const;
const CAPACITY = ['INDEXES', 'NONE', 'TOTAL'] as const;

/** Makes one DynamoDB call with Step Functions' parameters; rejects with the SDK's error. */
export async function callDynamoDb(
  client: DynamoDBClient,
  action: string,
  parameters: JsonObject,
  sdkSpelling: boolean,
  abortSignal: AbortSignal | undefined,
): Promise<JsonObject> {
  const read = readParameters(parameters);
  const options = abortSignal === undefined ? {} : { abortSignal };
  const item = (name: string, found: Item | undefined) =>
    found === undefined ? {} : { [name]: writeItem(found, sdkSpelling) };
  switch (action) {
    case 'getItem': {
      const input = {
        TableName: read.string('TableName'),
        Key: read.record('Key', readAttributeValue),
        ConsistentRead: read.boolean('ConsistentRead'),
        ProjectionExpression: read.string('ProjectionExpression'),
        ExpressionAttributeNames: names(read),
        ReturnConsumedCapacity: read.choice('ReturnConsumedCapacity', CAPACITY),
      };
      read.done();
      const answer = await client.send(new GetItemCommand(input), options);
      return item('Item', answer.Item);
    }
    case 'putItem': {
      const input = { Item: read.record('Item', readAttributeValue), ...write(read) };
      read.done();
      const answer = await client.send(new PutItemCommand(input), options);
      return item('Attributes', answer.Attributes);
    }
    case 'updateItem': {
      const input = {
        Key: read.record('Key', readAttributeValue),
        UpdateExpression: read.string('UpdateExpression'),
        ...write(read),
      };
      read.done();
      const answer = await client.send(new UpdateItemCommand(input), options);
      return item('Attributes', answer.Attributes);
    }
    case 'deleteItem': {
      const input = { Key: read.record('Key', readAttributeValue), ...write(read) };
      read.done();
      const answer = await client.send(new DeleteItemCommand(input), options);
      return item('Attributes', answer.Attributes);
    }
    case 'query': {
      const input = {
        TableName: read.string('TableName'),
        IndexName: read.string('IndexName'),
        KeyConditionExpression: read.string('KeyConditionExpression'),
        FilterExpression: read.string('FilterExpression'),
        ProjectionExpression: read.string('ProjectionExpression'),
        ExpressionAttributeNames: names(read),
        ExpressionAttributeValues: read.record('ExpressionAttributeValues', readAttributeValue),
        ConsistentRead: read.boolean('ConsistentRead'),
        ScanIndexForward: read.boolean('ScanIndexForward'),
        Limit: read.integer('Limit'),
        ExclusiveStartKey: read.record('ExclusiveStartKey', readAttributeValue),
      };
      read.done();
      const answer = await client.send(new QueryCommand(input), options);
      return {
        Count: answer.Count ?? 0,
        Items: (answer.Items ?? []).map((found) => writeItem(found, sdkSpelling)),
        ScannedCount: answer.ScannedCount ?? 0,
        ...item('LastEvaluatedKey', answer.LastEvaluatedKey),
      };
    }
    case 'transactWriteItems': {
      const input = {
        TransactItems: read.list('TransactItems', readTransactItem),
        ClientRequestToken: read.string('ClientRequestToken'),
        ReturnConsumedCapacity: read.choice('ReturnConsumedCapacity', CAPACITY),
      };
      read.done();
      await client.send(new TransactWriteItemsCommand(input), options);
      return {};
    }
    default:
      throw unusable(`DynamoDB has no action '${action}' here`);
  }
}

type Item = Readonly<Record<string, AttributeValue>>;

function names(read: Parameters): Record<string, string> | undefined {
  return read.record('ExpressionAttributeNames', requireText);
}

/** The members that all conditional writes share. */
function write(read: Parameters) {
  return {
    ...condition(read),
    ReturnValues: read.choice('ReturnValues', RETURN_VALUES),
    ReturnConsumedCapacity: read.choice('ReturnConsumedCapacity', CAPACITY),
  };
}

function condition(read: Parameters) {
  return {
    TableName: read.string('TableName'),
    ConditionExpression: read.string('ConditionExpression'),
    ExpressionAttributeNames: names(read),
    ExpressionAttributeValues: read.record('ExpressionAttributeValues', readAttributeValue),
    ReturnValuesOnConditionCheckFailure: read.choice(
      'ReturnValuesOnConditionCheckFailure',
      RETURN_ON_FAILURE,
    ),
  };
}

function readTransactItem(value: JsonValue, path: string): TransactWriteItem {
  const read = readParameters(value, path);
  const item: TransactWriteItem = {
    Put: read.member('Put', (part, at) =>
      within(part, at, (inner) => ({ Item: inner.record('Item', readAttributeValue), ...condition(inner) })),
    ),
    Update: read.member('Update', (part, at) =>
      within(part, at, (inner) => ({
        Key: inner.record('Key', readAttributeValue),
        UpdateExpression: inner.string('UpdateExpression'),
        ...condition(inner),
      })),
    ),
    Delete: read.member('Delete', (part, at) =>
      within(part, at, (inner) => ({ Key: inner.record('Key', readAttributeValue), ...condition(inner) })),
    ),
    ConditionCheck: read.member('ConditionCheck', (part, at) =>
      within(part, at, (inner) => ({ Key: inner.record('Key', readAttributeValue), ...condition(inner) })),
    ),
  };
  read.done();
  return item;
}

function within<T>(value: JsonValue, path: string, read: (inner: Parameters) => T): T {
  const inner = readParameters(value, path);
  const result = read(inner);
  inner.done();
  return result;
}
