import type { Message, MessageAttributeValue } from '@aws-sdk/client-sqs';
import type { SQSMessageAttributes, SQSRecord, SQSRecordAttributes } from 'aws-lambda';

/** A received message as a record of the event that Lambda hands to a function. */
export function sqsRecord(message: Message, queueArn: string): SQSRecord {
  return {
    messageId: message.MessageId ?? '',
    receiptHandle: message.ReceiptHandle ?? '',
    body: message.Body ?? '',
    attributes: recordAttributes(message),
    messageAttributes: messageAttributes(message.MessageAttributes ?? {}),
    md5OfBody: message.MD5OfBody ?? '',
    ...(message.MD5OfMessageAttributes === undefined
      ? {}
      : { md5OfMessageAttributes: message.MD5OfMessageAttributes }),
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: queueArn.split(':')[3] ?? '',
  };
}

function recordAttributes({ Attributes = {} }: Message): SQSRecordAttributes {
  const { ApproximateReceiveCount, SentTimestamp, SenderId, ApproximateFirstReceiveTimestamp, ...others } =
    Attributes;
  return {
    ApproximateReceiveCount: ApproximateReceiveCount ?? '1',
    SentTimestamp: SentTimestamp ?? '0',
    SenderId: SenderId ?? '',
    ApproximateFirstReceiveTimestamp: ApproximateFirstReceiveTimestamp ?? '0',
    ...others,
  };
}

function messageAttributes(attributes: Record<string, MessageAttributeValue>): SQSMessageAttributes {
  const result: SQSMessageAttributes = {};
  for (const [name, { DataType = 'String', StringValue, BinaryValue }] of Object.entries(attributes)) {
    result[name] = {
      ...(StringValue === undefined ? {} : { stringValue: StringValue }),
      ...(BinaryValue === undefined ? {} : { binaryValue: Buffer.from(BinaryValue).toString('base64') }),
      stringListValues: [],
      binaryListValues: [],
      dataType: DataType,
    };
  }
  return result;
}
