import type { Message, MessageAttributeValue } from '@aws-sdk/client-sqs';

/** An event as Lambda makes it of messages. Declared here, so that a team's tests need no types of Lambda's. */
export interface SqsEvent {
  readonly Records: SqsRecord[];
}

export interface SqsRecord {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly attributes: SqsRecordAttributes;
  readonly messageAttributes: SqsMessageAttributes;
  readonly md5OfBody: string;
  readonly md5OfMessageAttributes?: string;
  readonly eventSource: string;
  readonly eventSourceARN: string;
  readonly awsRegion: string;
}

export interface SqsRecordAttributes {
  readonly [name: string]: string | undefined;
  readonly ApproximateReceiveCount: string;
  readonly SentTimestamp: string;
  readonly SenderId: string;
  readonly ApproximateFirstReceiveTimestamp: string;
}

export interface SqsMessageAttributes {
  [name: string]: {
    readonly stringValue?: string;
    readonly binaryValue?: string;
    readonly stringListValues: never[];
    readonly binaryListValues: never[];
    readonly dataType: string;
  };
}

/** A received message as a record of the event that Lambda hands to a function. */
export function sqsRecord(message: Message, queueArn: string): SqsRecord {
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

function recordAttributes({ Attributes = {} }: Message): SqsRecordAttributes {
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

function messageAttributes(attributes: Record<string, MessageAttributeValue>): SqsMessageAttributes {
  const result: SqsMessageAttributes = {};
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
