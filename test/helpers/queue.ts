import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { AskedWorker } from './worker-questions.ts';

export interface QueuedMessage {
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly receiveCount: number;
}

/** The visible messages of a queue, which are hidden by it for the queue's visibility time-out. */
export async function receiveAll(worker: AskedWorker, queueUrl: string): Promise<readonly QueuedMessage[]> {
  const messages: QueuedMessage[] = [];
  for (;;) {
    const { Messages = [] } = await worker.clients.sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: 10,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['All'],
      }),
    );
    if (Messages.length === 0) return messages;
    for (const { Body = '', MessageAttributes = {}, Attributes = {} } of Messages) {
      messages.push({
        body: Body,
        attributes: Object.fromEntries(
          Object.entries(MessageAttributes).map(([name, { StringValue = '' }]) => [name, StringValue]),
        ),
        receiveCount: Number(Attributes.ApproximateReceiveCount),
      });
    }
  }
}
