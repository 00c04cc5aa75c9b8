import {
  ChangeMessageVisibilityCommand,
  type MessageAttributeValue,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { NewId } from '../core/clock.ts';
import type { QueueRecord, Rejection } from '../starter/record.ts';

/** SQS takes ten attributes a message; two are ours. */
const MAX_OWN_ATTRIBUTES = 8;
/** SQS: body, and names, types and values of the attributes together. */
const MAX_MESSAGE_BYTES = 1_048_576;
const MAX_REASON_CHARACTERS = 1_024;
/** SQS: visibility is at most 12 hours. */
const MAX_VISIBILITY_SECONDS = 43_200;

/** Hides a message for `seconds` from now instead of for the queue's visibility time-out. */
export async function hideMessage(
  client: SQSClient,
  queueUrl: string,
  receiptHandle: string,
  seconds: number,
): Promise<void> {
  await client.send(
    new ChangeMessageVisibilityCommand({
      QueueUrl: queueUrl,
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: Math.min(seconds, MAX_VISIBILITY_SECONDS),
    }),
  );
}

/**
 * Sends a message on, body untouched, with the reason beside it. Message attributes travel along; when there are
 * too many for the two of ours, they travel as one. A message that fills SQS's limit by itself travels as it came:
 * it must leave the queue, and its reason is in the log.
 */
export async function sendRejected(
  client: SQSClient,
  queueUrl: string,
  record: QueueRecord,
  rejection: Rejection,
  newId: NewId,
): Promise<void> {
  const own = Object.entries(record.attributes);
  const carried: [string, string][] =
    own.length > MAX_OWN_ATTRIBUTES ? [['OriginalAttributes', JSON.stringify(record.attributes)]] : own;
  const explained: [string, string][] = [
    ...carried,
    ['FailureCode', rejection.code],
    ['FailureReason', rejection.reason.slice(0, MAX_REASON_CHARACTERS)],
  ];
  const attributes = messageBytes(record.body, explained) > MAX_MESSAGE_BYTES ? own : explained;
  await client.send(
    new SendMessageCommand({
      QueueUrl: queueUrl,
      MessageBody: record.body,
      MessageAttributes: Object.fromEntries(attributes.map(([name, value]) => [name, text(value)])),
      // A fresh deduplication id: the same body sent on twice is two messages, and neither may be dropped.
      ...(queueUrl.endsWith('.fifo')
        ? { MessageGroupId: record.groupId ?? record.messageId, MessageDeduplicationId: newId() }
        : {}),
    }),
  );
}

function messageBytes(body: string, attributes: readonly (readonly [string, string])[]): number {
  return attributes.reduce(
    (bytes, [name, value]) => bytes + Buffer.byteLength(name) + 'String'.length + Buffer.byteLength(value),
    Buffer.byteLength(body),
  );
}

const text = (value: string): MessageAttributeValue => ({ DataType: 'String', StringValue: value });
