import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';

/** Sends a notice as JSON to a standard queue. */
export async function sendNotice(client: SQSClient, queueUrl: string, notice: object): Promise<void> {
  await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: JSON.stringify(notice) }));
}
