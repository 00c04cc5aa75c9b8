import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe } from 'vitest';
import { createDynamoDb } from '../../local/dynamodb/dynamodb.ts';
import { inProcessClientConfig } from '../../local/edge/client-config.ts';
import { createInProcessRequestHandler } from '../../local/edge/request-handler.ts';
import { createVirtualClock } from '../../local/virtual-clock.ts';
import { dynamoDbContract } from './dynamodb-contract.ts';

/** Set by `npm run test:dynamodb-local`: the address of AWS's own DynamoDB Local. */
const endpoint = process.env.DYNAMODB_LOCAL_ENDPOINT;

if (endpoint === undefined) {
  describe('the embedded DynamoDB', () => {
    const clock = createVirtualClock();
    const dynamoDb = createDynamoDb({ clock, newId: randomUUID });
    dynamoDbContract({
      kind: 'embedded',
      client: () =>
        new DynamoDBClient(
          inProcessClientConfig({
            requestHandler: createInProcessRequestHandler(dynamoDb.dispatch),
            clock,
            random: () => 0.5,
          }),
        ),
    });
  });
} else {
  describe('DynamoDB Local', () => {
    dynamoDbContract({
      kind: 'dynamodb-local',
      client: () =>
        new DynamoDBClient({
          endpoint,
          region: 'us-east-1',
          credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
        }),
    });
  });
}
