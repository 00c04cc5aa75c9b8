import { DeleteMessageCommand, type Message, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { Target } from '../target.ts';

/** What was found aside of a run, and taken away. */
export interface Letter {
  readonly where: 'dead-letter queue' | 'quarantine queue';
  /** Why it was refused; absent on a notice of work that failed. */
  readonly code: string | undefined;
}

const RECEIVES = 10;
/** Long enough that the next receive finds others, and short for everybody else who looks. */
const HOLD_SECONDS = 5;

/**
 * Takes the run's own messages out of the dead-letter and the quarantine queue, and leaves all others.
 * @param markers one of them stands in each of the run's messages
 */
export async function takeLetters(
  target: Target,
  markers: readonly string[],
): Promise<ReadonlyMap<string, Letter>> {
  const { dlqUrl, quarantineQueueUrl } = target.names;
  const found = new Map<string, Letter>();
  const queues = { 'dead-letter queue': dlqUrl, 'quarantine queue': quarantineQueueUrl } as const;
  for (const where of ['dead-letter queue', 'quarantine queue'] as const) {
    for (let receive = 0; receive < RECEIVES; receive += 1) {
      const messages = await receiveSome(target, queues[where]);
      if (messages.length === 0) break;
      for (const { Body = '', ReceiptHandle, MessageAttributes } of messages) {
        const marker = markers.find((own) => Body.includes(own));
        if (marker === undefined) continue;
        found.set(marker, { where, code: MessageAttributes?.FailureCode?.StringValue });
        await target.clients.sqs.send(new DeleteMessageCommand({ QueueUrl: queues[where], ReceiptHandle }));
      }
    }
  }
  return found;
}

async function receiveSome(target: Target, QueueUrl: string): Promise<readonly Message[]> {
  const { Messages = [] } = await target.clients.sqs.send(
    new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: 10,
      VisibilityTimeout: HOLD_SECONDS,
      WaitTimeSeconds: 0,
      MessageAttributeNames: ['FailureCode'],
    }),
  );
  return Messages;
}
