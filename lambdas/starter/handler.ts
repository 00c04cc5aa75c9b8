import middy from '@middy/core';
import sqsPartialBatchFailure from '@middy/sqs-partial-batch-failure';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { QueueRecord } from './record.ts';
import { type StarterDeps, startBatch } from './starter.ts';

/** The starter's Lambda handler: an SQS batch in, the ids of what the queue is to keep out. */
export function createHandler(deps: StarterDeps) {
  return middy<SQSEvent, PromiseSettledResult<void>[] | SQSBatchResponse>()
    .use(sqsPartialBatchFailure({ logger: () => {} }))
    .handler(async (event: SQSEvent, context: Context) => {
      try {
        return await startBatch(
          event.Records.map(toQueueRecord),
          () => context.getRemainingTimeInMillis(),
          deps,
        );
      } finally {
        deps.telemetry.flush();
      }
    });
}

function toQueueRecord(record: SQSRecord): QueueRecord {
  const attributes = Object.fromEntries(
    Object.entries(record.messageAttributes).flatMap(([name, { stringValue }]) =>
      stringValue === undefined ? [] : [[name, stringValue]],
    ),
  );
  const groupId = record.attributes.MessageGroupId;
  return {
    messageId: record.messageId,
    receiptHandle: record.receiptHandle,
    body: record.body,
    attributes,
    receiveCount: Number(record.attributes.ApproximateReceiveCount),
    sentAt: Number(record.attributes.SentTimestamp),
    queueArn: record.eventSourceARN,
    ...(groupId === undefined ? {} : { groupId }),
  };
}
