const CONDITION = [
  'TableName',
  'ConditionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
];
const WRITE = [...CONDITION, 'ReturnValuesOnConditionCheckFailure', 'ReturnValues', 'ReturnConsumedCapacity'];
const GET_ITEM = [
  'TableName',
  'Key',
  'ConsistentRead',
  'ProjectionExpression',
  'ExpressionAttributeNames',
  'ReturnConsumedCapacity',
];
const QUERY = [
  'TableName',
  'IndexName',
  'KeyConditionExpression',
  'FilterExpression',
  'ProjectionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'ConsistentRead',
  'ScanIndexForward',
  'Limit',
  'ExclusiveStartKey',
];
const SEND_MESSAGE = [
  'QueueUrl',
  'MessageBody',
  'DelaySeconds',
  'MessageGroupId',
  'MessageDeduplicationId',
  'MessageAttributes',
];

/** What can be called, and how. */
export interface IntegrationInfo {
  /** Whether it has `.waitForTaskToken`. */
  readonly callback: boolean;
  /** The parameters it takes. */
  readonly parameters: readonly string[];
}

/** Every service integration that this runtime has, by service and action. */
export const INTEGRATIONS: ReadonlyMap<string, IntegrationInfo> = new Map([
  ['lambda:invoke', { callback: true, parameters: ['FunctionName', 'Payload'] }],
  ['dynamodb:getItem', { callback: false, parameters: GET_ITEM }],
  ['dynamodb:putItem', { callback: false, parameters: ['Item', ...WRITE] }],
  ['dynamodb:updateItem', { callback: false, parameters: ['Key', 'UpdateExpression', ...WRITE] }],
  ['dynamodb:deleteItem', { callback: false, parameters: ['Key', ...WRITE] }],
  ['sqs:sendMessage', { callback: true, parameters: SEND_MESSAGE }],
  ['aws-sdk:dynamodb:getItem', { callback: true, parameters: GET_ITEM }],
  ['aws-sdk:dynamodb:putItem', { callback: true, parameters: ['Item', ...WRITE] }],
  ['aws-sdk:dynamodb:updateItem', { callback: true, parameters: ['Key', 'UpdateExpression', ...WRITE] }],
  ['aws-sdk:dynamodb:deleteItem', { callback: true, parameters: ['Key', ...WRITE] }],
  ['aws-sdk:dynamodb:query', { callback: true, parameters: QUERY }],
  [
    'aws-sdk:dynamodb:transactWriteItems',
    { callback: true, parameters: ['TransactItems', 'ClientRequestToken', 'ReturnConsumedCapacity'] },
  ],
  ['aws-sdk:sqs:sendMessage', { callback: true, parameters: SEND_MESSAGE }],
]);
