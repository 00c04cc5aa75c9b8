/** Actions that can be called by `aws-sdk:<service>:<action>`. */
export const SDK_ACTIONS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [
    'aws-sdk:dynamodb',
    new Set(['getItem', 'putItem', 'updateItem', 'deleteItem', 'query', 'transactWriteItems']),
  ],
  ['aws-sdk:sqs', new Set(['sendMessage'])],
]);

/** The optimized integrations, and whether each can wait for a callback. */
export const OPTIMIZED_ACTIONS: ReadonlyMap<string, boolean> = new Map([
  ['lambda:invoke', true],
  ['dynamodb:getItem', false],
  ['dynamodb:putItem', false],
  ['dynamodb:updateItem', false],
  ['dynamodb:deleteItem', false],
  ['sqs:sendMessage', true],
]);
