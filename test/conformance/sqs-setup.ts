import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  SendMessageCommand,
  type SendMessageCommandInput,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { createActivity } from '../../local/edge/activity.ts';
import { inProcessClientConfig, LOCAL_ACCOUNT, LOCAL_REGION } from '../../local/edge/client-config.ts';
import type { FaultInjector } from '../../local/edge/faults.ts';
import { createInProcessRequestHandler } from '../../local/edge/request-handler.ts';
import { createSqsDispatch, createSqsStore } from '../../local/sqs/index.ts';
import { createVirtualClock } from '../../local/virtual-clock.ts';

/** An SQS in virtual time behind a real SDK client. */
export function setUpSqs(options: { readonly faults?: FaultInjector } = {}) {
  const clock = createVirtualClock();
  const activity = createActivity();
  let ids = 0;
  const newId = () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`;
  const serviceClock = activity.waiting(clock);
  const store = createSqsStore({ clock: serviceClock, newId, region: LOCAL_REGION, account: LOCAL_ACCOUNT });
  const requestHandler = createInProcessRequestHandler(createSqsDispatch({ store, clock: serviceClock }), {
    activity,
    ...options,
  });
  const client = new SQSClient(inProcessClientConfig({ requestHandler, clock, random: () => 0.5 }));

  return {
    clock,
    activity,
    newId,
    store,
    client,
    requestHandler,
    /** Moves the clock on. */
    pass: (seconds: number) => clock.moveTo(clock.now() + seconds * 1_000),
    async createQueue(name: string, attributes: Record<string, string> = {}) {
      const { QueueUrl = '' } = await client.send(
        new CreateQueueCommand({
          QueueName: name,
          Attributes: name.endsWith('.fifo') ? { FifoQueue: 'true', ...attributes } : attributes,
        }),
      );
      return { url: QueueUrl, arn: `arn:aws:sqs:${LOCAL_REGION}:${LOCAL_ACCOUNT}:${name}` };
    },
    send: (url: string, body: string, rest: Partial<SendMessageCommandInput> = {}) =>
      client.send(new SendMessageCommand({ QueueUrl: url, MessageBody: body, ...rest })),
    /** Receives up to ten messages with all their attributes. */
    async receive(url: string, rest: Partial<ReceiveMessageCommandInput> = {}): Promise<Message[]> {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: url,
          MaxNumberOfMessages: 10,
          MessageSystemAttributeNames: ['All'],
          MessageAttributeNames: ['All'],
          ...rest,
        }),
      );
      return Messages;
    },
    remove: (url: string, message: Message | undefined) =>
      client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: message?.ReceiptHandle })),
    changeVisibility: (url: string, message: Message | undefined, seconds: number) =>
      client.send(
        new ChangeMessageVisibilityCommand({
          QueueUrl: url,
          ReceiptHandle: message?.ReceiptHandle,
          VisibilityTimeout: seconds,
        }),
      ),
    /** Messages visible, in flight and delayed. */
    async counts(url: string) {
      const { Attributes = {} } = await client.send(
        new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] }),
      );
      return [
        Attributes.ApproximateNumberOfMessages,
        Attributes.ApproximateNumberOfMessagesNotVisible,
        Attributes.ApproximateNumberOfMessagesDelayed,
      ].map(Number);
    },
  };
}

/** The messages' bodies, in order. */
export function bodies(messages: readonly Message[]): (string | undefined)[] {
  return messages.map(({ Body }) => Body);
}
