import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SendMessageCommandInput,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import { describe, expect, it } from 'vitest';
import { inProcessClientConfig } from '../../local/edge/client-config.ts';
import type { Dispatch } from '../../local/edge/http.ts';
import { createInProcessRequestHandler } from '../../local/edge/request-handler.ts';
import { createVirtualClock } from '../../local/virtual-clock.ts';
import { setUpSqs } from './sqs-setup.ts';

/** An independent emulator of the same service, in process. */
function otherClient(): SQSClient {
  const app = buildApp({ logger: false });
  const dispatch: Dispatch = async ({ headers, body, path }) => {
    const answer = await app.inject({ method: 'POST', url: path, headers, payload: Buffer.from(body) });
    const answered: Record<string, string> = {};
    for (const [name, value] of Object.entries(answer.headers)) answered[name] = String(value);
    return { status: answer.statusCode, headers: answered, body: answer.rawPayload };
  };
  const requestHandler = createInProcessRequestHandler(dispatch);
  return new SQSClient(
    inProcessClientConfig({ requestHandler, clock: createVirtualClock(), random: () => 0.5 }),
  );
}

const CHANGING = ['MessageId', 'ReceiptHandle', 'SenderId', 'SequenceNumber', 'ConsumedCapacity'];

/** What two services must have in common: everything but ids, times and who is asking. */
function comparable(value: unknown, name = ''): unknown {
  if (CHANGING.includes(name) || /Timestamp$/.test(name)) return `<${name}>`;
  if (value instanceof Uint8Array) return [...value];
  if (Array.isArray(value)) return value.map((item) => comparable(item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key, item]) => key !== '$metadata' && item !== undefined);
  return Object.fromEntries(entries.map(([key, item]) => [key, comparable(item, key)]));
}

/** The answers of both to the same calls. */
async function both(calls: (client: SQSClient, answers: unknown[]) => Promise<void>) {
  const [ours, theirs]: [unknown[], unknown[]] = [[], []];
  await calls(setUpSqs().client, ours);
  await calls(otherClient(), theirs);
  return { ours: comparable(ours), theirs: comparable(theirs) };
}

async function queue(
  client: SQSClient,
  QueueName: string,
  Attributes: Record<string, string> = {},
): Promise<string> {
  return (await client.send(new CreateQueueCommand({ QueueName, Attributes }))).QueueUrl ?? '';
}

const send = (client: SQSClient, QueueUrl: string, rest: Omit<SendMessageCommandInput, 'QueueUrl'>) =>
  client.send(new SendMessageCommand({ QueueUrl, ...rest }));
const receive = (client: SQSClient, QueueUrl: string, rest: Partial<ReceiveMessageCommandInput> = {}) =>
  client.send(
    new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: 10,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
      ...rest,
    }),
  );

describe('SQS beside another emulator', () => {
  it('agrees on messages, attributes and their digests', async () => {
    const { ours, theirs } = await both(async (client, answers) => {
      const url = await queue(client, 'q');
      answers.push(
        await send(client, url, {
          MessageBody: 'grüße',
          MessageAttributes: {
            zulu: { DataType: 'String', StringValue: 'ä' },
            alpha: { DataType: 'Number.int', StringValue: '42' },
            Bytes: { DataType: 'Binary', BinaryValue: Uint8Array.of(0, 1, 255) },
          },
        }),
        await receive(client, url),
      );
    });

    expect(ours).toEqual(theirs);
  });

  it('agrees on batches', async () => {
    const { ours, theirs } = await both(async (client, answers) => {
      const url = await queue(client, 'q');
      answers.push(
        await client.send(
          new SendMessageBatchCommand({
            QueueUrl: url,
            Entries: ['a', 'b', 'c'].map((Id) => ({
              Id,
              MessageBody: `body ${Id}`,
              MessageAttributes: { n: { DataType: 'String', StringValue: Id } },
            })),
          }),
        ),
        await receive(client, url),
      );
    });

    expect(ours).toEqual(theirs);
  });

  it('agrees on FIFO groups and deduplication', async () => {
    const { ours, theirs } = await both(async (client, answers) => {
      const url = await queue(client, 'q.fifo', { FifoQueue: 'true', ContentBasedDeduplication: 'true' });
      for (const MessageBody of ['A1', 'A2', 'A1', 'B1']) {
        answers.push(await send(client, url, { MessageBody, MessageGroupId: MessageBody.slice(0, 1) }));
      }
      const { Messages: [first] = [] } = await receive(client, url, { MaxNumberOfMessages: 1 });
      answers.push(first, await receive(client, url));
      await client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: first?.ReceiptHandle }));
      answers.push(await receive(client, url));
    });

    expect(ours).toEqual(theirs);
  });

  it('agrees on redelivery and the dead-letter queue', async () => {
    const { ours, theirs } = await both(async (client, answers) => {
      const dlq = await queue(client, 'dlq');
      const arn = await client.send(
        new GetQueueAttributesCommand({ QueueUrl: dlq, AttributeNames: ['QueueArn'] }),
      );
      const deadLetterTargetArn = arn.Attributes?.QueueArn;
      const url = await queue(client, 'q', {
        RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 2 }),
      });
      await send(client, url, { MessageBody: 'poison' });
      for (let time = 0; time < 2; time += 1) {
        const { Messages: [message] = [] } = await receive(client, url);
        answers.push(message?.Attributes?.ApproximateReceiveCount);
        await client.send(
          new ChangeMessageVisibilityCommand({
            QueueUrl: url,
            ReceiptHandle: message?.ReceiptHandle,
            VisibilityTimeout: 0,
          }),
        );
      }
      answers.push(
        await receive(client, url),
        (await receive(client, dlq)).Messages?.map(({ Body }) => Body),
      );
    });

    expect(ours).toEqual(theirs);
  });

  it.each<[string, (client: SQSClient, url: string) => Promise<unknown>]>([
    ['a queue that is not there', (client, url) => send(client, `${url}x`, { MessageBody: 'a' })],
    ['no entries', (client, url) => client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries: [] }))],
  ])('agrees on the error of %s', async (_name, call) => {
    const { ours, theirs } = await both(async (client, answers) => {
      const url = await queue(client, 'q');
      answers.push(
        await call(client, url).then(
          () => 'accepted',
          (error: Error & { readonly Code?: string }) => [error.name, error.Code],
        ),
      );
    });

    expect(ours).toEqual(theirs);
  });
});
