import type { StreamRecord } from '../../../local/dynamodb/change-stream.ts';
import { createDynamoDb } from '../../../local/dynamodb/dynamodb.ts';
import type { StreamReader } from '../../../local/event-sources/stream-event-source.ts';
import { setUpSqs } from '../../conformance/sqs-setup.ts';

/** A table with a stream beside an SQS, in virtual time. */
export async function setUpStream() {
  const sqs = setUpSqs();
  const { clock, newId } = sqs;
  const dynamoDb = createDynamoDb({ clock, newId });
  const call = async (operation: string, input: object) => {
    const { status, body } = await dynamoDb.handle({
      target: `DynamoDB_20120810.${operation}`,
      body: JSON.stringify(input),
    });
    if (status !== 200) throw new Error(String(body));
  };
  await call('CreateTable', {
    TableName: 'Table',
    KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'PK', AttributeType: 'S' }],
    BillingMode: 'PAY_PER_REQUEST',
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  });
  const reader: StreamReader<StreamRecord> = {
    read: (afterSequenceNumber, limit) =>
      dynamoDb.readStream({ tableName: 'Table', afterSequenceNumber, limit }).records,
    onChange: (listener) => dynamoDb.onChange(listener),
  };
  const put = (PK: string, attributes: object = {}) =>
    call('PutItem', { TableName: 'Table', Item: { PK: { S: PK }, ...attributes } });
  const remove = (PK: string) => call('DeleteItem', { TableName: 'Table', Key: { PK: { S: PK } } });
  return { ...sqs, reader, put, remove };
}
