import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { JsonObject, JsonValue } from '../../../lambdas/core/json.ts';
import { readParameters, requireText, unusable } from './parameters.ts';

/** Makes one SQS call with Step Functions' parameters; rejects with the SDK's error. */
export async function callSqs(
  client: SQSClient,
  action: string,
  parameters: JsonObject,
  abortSignal: AbortSignal | undefined,
): Promise<JsonObject> {
  if (action !== 'sendMessage') throw unusable(`SQS has no action '${action}' here`);
  const read = readParameters(parameters);
  const input = {
    QueueUrl: read.string('QueueUrl'),
    MessageBody: read.member('MessageBody', bodyText),
    DelaySeconds: read.integer('DelaySeconds'),
    MessageGroupId: read.string('MessageGroupId'),
    MessageDeduplicationId: read.string('MessageDeduplicationId'),
    MessageAttributes: read.record('MessageAttributes', readMessageAttribute),
  };
  read.done();
  const options = abortSignal === undefined ? {} : { abortSignal };
  const answer = await client.send(new SendMessageCommand(input), options);
  const members = {
    MD5OfMessageAttributes: answer.MD5OfMessageAttributes,
    MD5OfMessageBody: answer.MD5OfMessageBody,
    MessageId: answer.MessageId,
    SequenceNumber: answer.SequenceNumber,
  };
  return Object.fromEntries(
    Object.entries(members).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

/** A body that is no text is sent as its JSON. */
function bodyText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function readMessageAttribute(value: JsonValue, path: string) {
  const read = readParameters(value, path);
  const attribute = {
    DataType: read.member('DataType', requireText),
    StringValue: read.string('StringValue'),
    BinaryValue: read.member('BinaryValue', (bytes, at) => Buffer.from(requireText(bytes, at), 'base64')),
  };
  read.done();
  return attribute;
}
