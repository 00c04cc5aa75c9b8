import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { errorName } from '../core/errors.ts';
import type { QueueRecord } from './record.ts';
import { type StarterDeps, startBatch } from './starter.ts';

/** The starter's Lambda handler: an SQS batch in, the ids of what the queue is to keep out. */
export function createHandler(deps: StarterDeps) {
  return async ({ Records }: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    try {
      const results = await startBatch(
        Records.map(toQueueRecord),
        () => context.getRemainingTimeInMillis(),
        deps,
      );
      return kept(Records.filter((_record, index) => results[index]?.status !== 'fulfilled'));
    } catch (error) {
      deps.telemetry.error('batch_failed', { code: errorName(error) });
      return kept(Records);
    } finally {
      deps.telemetry.flush();
    }
  };
}

/** The queue is to deliver these again. */
const kept = (records: readonly SQSRecord[]): SQSBatchResponse => ({
  batchItemFailures: records.map(({ messageId }) => ({ itemIdentifier: messageId })),
});

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
