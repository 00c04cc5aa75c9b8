import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { holdsId } from './forget-bodies.ts';

const BATCH = 10;
/** A message is held until the whole queue has been seen, so that each receive brings others. */
const HOLD_SECONDS = 300;
/**
 * How often a receive may find nothing new although the queue says that it holds more: SQS asks only a part of its
 * servers, and hides what is in flight or behind another message of its group.
 */
const MAX_EMPTY_RECEIVES = 20;

/** A message that was left for a person to look at. */
export interface SuspectMessage {
  readonly queueUrl: string;
  readonly messageId: string;
}

export interface QueueSweep {
  /** Messages of the aggregate that were deleted. */
  readonly deleted: number;
  /** Messages that hold the id and name no aggregate: they may be this one's or another's. */
  readonly suspects: readonly SuspectMessage[];
  /** How many messages could not be looked at: in another's hands, delayed, or behind a held one of their group. */
  readonly unseen: number;
}

/**
 * Looks at every message of a queue that has no consumer and deletes those of an aggregate. The others are visible
 * again at the end, with one receive more.
 *
 * @param isOf whether a body is the aggregate's; undefined when it names none
 * @param id the aggregate's: a body that names no aggregate and holds the id is a suspect
 */
export async function sweepQueue(
  queueUrl: string,
  {
    isOf,
    id,
    sqs,
  }: {
    readonly isOf: (body: string) => boolean | undefined;
    readonly id: string;
    readonly sqs: SQSClient;
  },
): Promise<QueueSweep> {
  const held = new Map<string, Message>();
  const suspects: SuspectMessage[] = [];
  let deleted = 0;
  let unseen = 0;
  try {
    for (let empty = 0; empty < MAX_EMPTY_RECEIVES; ) {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: queueUrl,
          MaxNumberOfMessages: BATCH,
          VisibilityTimeout: HOLD_SECONDS,
          WaitTimeSeconds: 0,
        }),
      );
      const others = Messages.filter(({ MessageId = '' }) => !held.has(MessageId));
      for (const message of others) {
        const { MessageId: messageId = '', Body: body = '' } = message;
        const its = isOf(body);
        if (its === true) {
          await sqs.send(
            new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: message.ReceiptHandle }),
          );
          deleted += 1;
          continue;
        }
        held.set(messageId, message);
        if (its === undefined && holdsId(body, id)) suspects.push({ queueUrl, messageId });
      }
      if (others.length > 0) {
        empty = 0;
        continue;
      }
      unseen = await unseenIn(queueUrl, held.size, sqs);
      if (unseen === 0) break;
      empty += 1;
    }
  } finally {
    await release(queueUrl, [...held.values()], sqs);
  }
  return { deleted, suspects, unseen };
}

async function unseenIn(queueUrl: string, held: number, sqs: SQSClient): Promise<number> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: queueUrl,
      AttributeNames: [
        'ApproximateNumberOfMessages',
        'ApproximateNumberOfMessagesNotVisible',
        'ApproximateNumberOfMessagesDelayed',
      ],
    }),
  );
  const inFlight = Number(Attributes.ApproximateNumberOfMessagesNotVisible);
  return (
    Number(Attributes.ApproximateNumberOfMessages) +
    Number(Attributes.ApproximateNumberOfMessagesDelayed) +
    Math.max(0, inFlight - held)
  );
}

async function release(queueUrl: string, messages: readonly Message[], sqs: SQSClient): Promise<void> {
  for (let from = 0; from < messages.length; from += BATCH) {
    await sqs.send(
      new ChangeMessageVisibilityBatchCommand({
        QueueUrl: queueUrl,
        Entries: messages.slice(from, from + BATCH).map(({ ReceiptHandle }, index) => ({
          Id: String(index),
          ReceiptHandle,
          VisibilityTimeout: 0,
        })),
      }),
    );
  }
}
