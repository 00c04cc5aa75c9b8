import { type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Clock, NewId } from '../core/clock.ts';
import type { PayloadRef } from '../core/envelope.ts';
import { sha256 } from '../core/identity.ts';
import { attentionKey } from '../core/table.ts';
import type { RejectedStore } from '../starter/starter.ts';
import { toItem } from './items.ts';
import { sendRejected } from './queue.ts';

/** An item holds 400 KB; a body above this lies in the payload bucket. */
const MAX_ROW_BODY_BYTES = 300 * 1024;
const REJECTED_FOLDER = 'rejected';

/** Keeps invalid messages in the dead-letter queue, with the reason as attributes. */
export function createDeadLetters(sqs: SQSClient, dlqUrl: string, newId: NewId): RejectedStore {
  return { keep: (record, rejection) => sendRejected(sqs, dlqUrl, record, rejection, newId) };
}

export interface QuarantineDeps {
  readonly dynamodb: DynamoDBClient;
  readonly sqs: SQSClient;
  readonly tableName: string;
  readonly quarantineQueueUrl: string;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly offload: (folder: string, bytes: Uint8Array) => Promise<PayloadRef>;
}

/**
 * Keeps invalid messages in the quarantine: the row is the case, the queue the notification. The row is named after
 * the message, so that a crash between the two and the redelivery after it make one case.
 */
export function createQuarantine(deps: QuarantineDeps): RejectedStore {
  return {
    async keep(record, rejection) {
      const at = new Date(deps.clock.now()).toISOString();
      const openedAt = new Date(record.sentAt).toISOString();
      const id = sha256(`${record.queueArn}#${record.messageId}`).slice(0, 32);
      const bytes = Buffer.from(record.body);
      const body =
        bytes.length > MAX_ROW_BODY_BYTES
          ? { bodyRef: await deps.offload(REJECTED_FOLDER, bytes) }
          : { body: record.body };
      await deps.dynamodb.send(
        new PutItemCommand({
          TableName: deps.tableName,
          Item: toItem({
            PK: `QUARANTINE#${openedAt.slice(0, 10)}#${id.slice(0, 1)}`,
            SK: `${openedAt}#${id}`,
            source: 'starter',
            code: rejection.code,
            reason: rejection.code,
            message: rejection.reason,
            ...body,
            messageAttributes: record.attributes,
            queueArn: record.queueArn,
            messageId: record.messageId,
            receiveCount: record.receiveCount,
            openedAt,
            lastSeenAt: at,
            attention: attentionKey('QUARANTINED', openedAt, id),
            attentionAt: openedAt,
          }),
        }),
      );
      await sendRejected(deps.sqs, deps.quarantineQueueUrl, record, rejection, deps.newId);
    },
  };
}
