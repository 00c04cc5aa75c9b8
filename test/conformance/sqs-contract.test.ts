import {
  CancelMessageMoveTaskCommand,
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  GetQueueUrlCommand,
  ListDeadLetterSourceQueuesCommand,
  ListMessageMoveTasksCommand,
  ListQueuesCommand,
  type Message,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SendMessageCommandInput,
  SetQueueAttributesCommand,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs';
import { beforeEach, describe, expect, it } from 'vitest';
import { runUntil } from '../../local/drive.ts';
import { setUpSqs } from './sqs-setup.ts';

let sqs: ReturnType<typeof setUpSqs>;

beforeEach(() => {
  sqs = setUpSqs();
});

async function send(url: string, body: string, rest: Partial<SendMessageCommandInput> = {}) {
  return sqs.client.send(new SendMessageCommand({ QueueUrl: url, MessageBody: body, ...rest }));
}

async function receive(url: string, rest: Partial<ReceiveMessageCommandInput> = {}): Promise<Message[]> {
  const { Messages = [] } = await sqs.client.send(
    new ReceiveMessageCommand({
      QueueUrl: url,
      MaxNumberOfMessages: 10,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
      ...rest,
    }),
  );
  return Messages;
}

const bodies = (messages: Message[]) => messages.map(({ Body }) => Body);
const remove = (url: string, message: Message | undefined) =>
  sqs.client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: message?.ReceiptHandle }));
const changeVisibility = (url: string, message: Message | undefined, seconds: number) =>
  sqs.client.send(
    new ChangeMessageVisibilityCommand({
      QueueUrl: url,
      ReceiptHandle: message?.ReceiptHandle,
      VisibilityTimeout: seconds,
    }),
  );

describe('SQS visibility', () => {
  it('hides a received message until its visibility timeout has passed', async () => {
    const { url } = await sqs.createQueue('q', { VisibilityTimeout: '30' });
    await send(url, 'a');

    expect(bodies(await receive(url))).toEqual(['a']);
    expect(await receive(url)).toEqual([]);
    sqs.pass(29.999);
    expect(await receive(url)).toEqual([]);
    sqs.pass(0.001);
    expect(bodies(await receive(url))).toEqual(['a']);
  });

  it('prefers the timeout given with the receive', async () => {
    const { url } = await sqs.createQueue('q', { VisibilityTimeout: '30' });
    await send(url, 'a');

    await receive(url, { VisibilityTimeout: 5 });
    sqs.pass(5);

    expect(bodies(await receive(url))).toEqual(['a']);
  });

  it('extends and ends a timeout by ChangeMessageVisibility, counted from the call', async () => {
    const { url } = await sqs.createQueue('q', { VisibilityTimeout: '30' });
    await send(url, 'a');
    const [first] = await receive(url);

    sqs.pass(20);
    await changeVisibility(url, first, 30);
    sqs.pass(29);
    expect(await receive(url)).toEqual([]);
    await changeVisibility(url, first, 0);

    expect(bodies(await receive(url))).toEqual(['a']);
  });

  it('refuses to change the visibility of a message that is not in flight', async () => {
    const { url } = await sqs.createQueue('q');
    await send(url, 'a');
    const [first] = await receive(url);
    sqs.pass(30);

    await expect(changeVisibility(url, first, 10)).rejects.toMatchObject({
      name: 'MessageNotInflight',
      Code: 'AWS.SimpleQueueService.MessageNotInflight',
    });
  });

  it('refuses to change the visibility of a deleted message', async () => {
    const { url } = await sqs.createQueue('q');
    await send(url, 'a');
    const [first] = await receive(url);
    await remove(url, first);

    await expect(changeVisibility(url, first, 10)).rejects.toMatchObject({ name: 'InvalidParameterValue' });
  });

  it('lets nobody hide a message for more than 12 hours in all', async () => {
    const { url } = await sqs.createQueue('q');
    await send(url, 'a');
    const [first] = await receive(url, { VisibilityTimeout: 43_200 });
    sqs.pass(1);

    await expect(changeVisibility(url, first, 43_200)).rejects.toThrow(/beyond the limit/);
    await changeVisibility(url, first, 43_199);
    expect(await sqs.counts(url)).toEqual([0, 1, 0]);
  });

  it('answers per entry in a ChangeMessageVisibilityBatch', async () => {
    const { url } = await sqs.createQueue('q');
    await send(url, 'a');
    const [first] = await receive(url);

    const { Successful, Failed } = await sqs.client.send(
      new ChangeMessageVisibilityBatchCommand({
        QueueUrl: url,
        Entries: [
          { Id: 'good', ReceiptHandle: first?.ReceiptHandle, VisibilityTimeout: 0 },
          { Id: 'bad', ReceiptHandle: 'nonsense', VisibilityTimeout: 0 },
        ],
      }),
    );

    expect(Successful).toEqual([{ Id: 'good' }]);
    expect(Failed).toMatchObject([{ Id: 'bad', Code: 'ReceiptHandleIsInvalid', SenderFault: true }]);
  });
});

describe('SQS delays', () => {
  it('hides a new message for its own delay, or else the queue’s', async () => {
    const { url } = await sqs.createQueue('q', { DelaySeconds: '10' });
    await send(url, 'queue');
    await send(url, 'own', { DelaySeconds: 2 });
    await send(url, 'none', { DelaySeconds: 0 });

    expect(await sqs.counts(url)).toEqual([1, 0, 2]);
    expect(bodies(await receive(url))).toEqual(['none']);
    sqs.pass(2);
    expect(bodies(await receive(url))).toEqual(['own']);
    sqs.pass(8);
    expect(bodies(await receive(url))).toEqual(['queue']);
  });

  it('refuses a delay over 15 minutes', async () => {
    const { url } = await sqs.createQueue('q');

    await expect(send(url, 'a', { DelaySeconds: 901 })).rejects.toMatchObject({
      name: 'InvalidParameterValue',
    });
  });
});

describe('SQS long polling', () => {
  it('answers as soon as a message is there', async () => {
    const { url } = await sqs.createQueue('q');
    const waiting = receive(url, { WaitTimeSeconds: 20 });
    await sqs.counts(url);

    await send(url, 'a');

    expect(bodies(await waiting)).toEqual(['a']);
  });

  it('answers when a hidden message becomes visible', async () => {
    const { url } = await sqs.createQueue('q');
    await send(url, 'a', { DelaySeconds: 7 });
    const start = sqs.clock.now();
    let got: Message[] | undefined;
    void receive(url, { WaitTimeSeconds: 20 }).then((messages) => {
      got = messages;
    });

    await runUntil(() => got !== undefined, { clock: sqs.clock, inFlight: sqs.activity.inFlight });

    expect(bodies(got ?? [])).toEqual(['a']);
    expect(sqs.clock.now() - start).toBe(7_000);
  });

  it('answers empty when the wait is over', async () => {
    const { url } = await sqs.createQueue('q');
    const start = sqs.clock.now();
    let got: Message[] | undefined;
    void receive(url, { WaitTimeSeconds: 20 }).then((messages) => {
      got = messages;
    });

    await runUntil(() => got !== undefined, { clock: sqs.clock, inFlight: sqs.activity.inFlight });

    expect(got).toEqual([]);
    expect(sqs.clock.now() - start).toBe(20_000);
  });
});

describe('SQS message attributes', () => {
  it('gives back body, attributes and digests', async () => {
    const { url } = await sqs.createQueue('q');
    const MessageAttributes = {
      text: { DataType: 'String', StringValue: 'grüße' },
      number: { DataType: 'Number.int', StringValue: '42' },
      bytes: { DataType: 'Binary', BinaryValue: Uint8Array.of(1, 2, 255) },
    };

    const sent = await send(url, 'body', { MessageAttributes });
    const [got] = await receive(url);

    expect(got?.MessageId).toBe(sent.MessageId);
    expect(got?.MD5OfMessageAttributes).toBe(sent.MD5OfMessageAttributes);
    expect(got?.MessageAttributes?.text).toEqual(MessageAttributes.text);
    expect(got?.MessageAttributes?.number).toEqual(MessageAttributes.number);
    expect([...(got?.MessageAttributes?.bytes?.BinaryValue ?? [])]).toEqual([1, 2, 255]);
  });

  it('gives only the attributes asked for', async () => {
    const { url } = await sqs.createQueue('q');
    const attribute = { DataType: 'String', StringValue: 'v' };
    await send(url, 'body', { MessageAttributes: { 'a.one': attribute, 'a.two': attribute, b: attribute } });

    const [got] = await receive(url, {
      MessageAttributeNames: ['a.*'],
      MessageSystemAttributeNames: ['SentTimestamp'],
    });

    expect(Object.keys(got?.MessageAttributes ?? {})).toEqual(['a.one', 'a.two']);
    expect(Object.keys(got?.Attributes ?? {})).toEqual(['SentTimestamp']);
  });

  it('counts receives and keeps the times of sending and first receiving', async () => {
    const { url } = await sqs.createQueue('q', { VisibilityTimeout: '1' });
    const sentAt = sqs.clock.now();
    await send(url, 'a');
    sqs.pass(3);
    const [first] = await receive(url);
    sqs.pass(5);
    const [second] = await receive(url);

    expect(first?.Attributes).toMatchObject({
      ApproximateReceiveCount: '1',
      SentTimestamp: String(sentAt),
      ApproximateFirstReceiveTimestamp: String(sentAt + 3_000),
    });
    expect(second?.Attributes).toEqual({ ...first?.Attributes, ApproximateReceiveCount: '2' });
    expect(second?.ReceiptHandle).not.toBe(first?.ReceiptHandle);
  });

  it.each([
    ['no type', { DataType: '', StringValue: 'v' }],
    ['an unknown type', { DataType: 'Text', StringValue: 'v' }],
    ['an empty value', { DataType: 'String', StringValue: '' }],
    ['a number that is none', { DataType: 'Number', StringValue: 'forty' }],
  ])('refuses an attribute with %s', async (_name, attribute) => {
    const { url } = await sqs.createQueue('q');

    await expect(send(url, 'a', { MessageAttributes: { a: attribute } })).rejects.toMatchObject({
      name: 'InvalidParameterValue',
    });
  });

  it('carries the trace header as a system attribute', async () => {
    const { url } = await sqs.createQueue('q');
    await send(url, 'a', {
      MessageSystemAttributes: { AWSTraceHeader: { DataType: 'String', StringValue: 'Root=1-2-3' } },
    });

    expect((await receive(url))[0]?.Attributes?.AWSTraceHeader).toBe('Root=1-2-3');
  });
});

describe('SQS message size and content', () => {
  it('takes 1 MiB, attributes included, and not a byte more', async () => {
    const { url } = await sqs.createQueue('q');
    const MessageAttributes = { ab: { DataType: 'String', StringValue: 'cd' } };

    await send(url, 'x'.repeat(1_048_576 - 10), { MessageAttributes });

    await expect(send(url, 'x'.repeat(1_048_576 - 9), { MessageAttributes })).rejects.toMatchObject({
      name: 'InvalidParameterValue',
      message: expect.stringContaining('must be shorter than 1048576 bytes'),
    });
  });

  it('counts bytes, not characters', async () => {
    const { url } = await sqs.createQueue('q', { MaximumMessageSize: '1024' });

    await send(url, 'x'.repeat(1_024));

    await expect(send(url, 'ü'.repeat(513))).rejects.toMatchObject({ name: 'InvalidParameterValue' });
  });

  it.each(['\u0000', '\u001b', '\ufffe', '\ud800'])('refuses the character %j', async (character) => {
    const { url } = await sqs.createQueue('q');

    await expect(send(url, `a${character}`)).rejects.toMatchObject({ name: 'InvalidMessageContents' });
  });

  it('takes every other character', async () => {
    const { url } = await sqs.createQueue('q');
    const body = '\t\n\r ~\u007f\u0085\ud7ff\ue000\ufffd\u{10000}\u{1f600}';
    await send(url, body);

    expect(bodies(await receive(url))).toEqual([body]);
  });

  it('refuses an empty body', async () => {
    const { url } = await sqs.createQueue('q');

    await expect(send(url, '')).rejects.toMatchObject({ name: 'MissingParameter' });
  });
});

describe('SQS deletion', () => {
  it('deletes by the newest receipt handle, also after the timeout', async () => {
    const { url } = await sqs.createQueue('q');
    await send(url, 'a');
    const [first] = await receive(url);
    sqs.pass(60);
    await remove(url, first);

    expect(await sqs.counts(url)).toEqual([0, 0, 0]);
  });

  it('keeps the message when the handle is an outdated one, and still answers success', async () => {
    const { url } = await sqs.createQueue('q');
    await send(url, 'a');
    const [first] = await receive(url);
    sqs.pass(30);
    const [second] = await receive(url);

    await remove(url, first);
    expect(await sqs.counts(url)).toEqual([0, 1, 0]);
    await remove(url, second);
    await remove(url, second);
    expect(await sqs.counts(url)).toEqual([0, 0, 0]);
  });

  it('refuses a handle that is none, or another queue’s', async () => {
    const { url } = await sqs.createQueue('q');
    const other = await sqs.createQueue('other');
    await send(other.url, 'a');
    const [foreign] = await receive(other.url);

    await expect(remove(url, { ReceiptHandle: 'nonsense' })).rejects.toMatchObject({
      name: 'ReceiptHandleIsInvalid',
      $metadata: { httpStatusCode: 404 },
    });
    await expect(remove(url, foreign)).rejects.toMatchObject({ name: 'ReceiptHandleIsInvalid' });
  });

  it('reports failures of a DeleteMessageBatch per entry', async () => {
    const { url } = await sqs.createQueue('q.fifo', { ContentBasedDeduplication: 'true' });
    await send(url, 'a', { MessageGroupId: 'A' });
    await send(url, 'b', { MessageGroupId: 'B' });
    const [a] = await receive(url, { MaxNumberOfMessages: 1, VisibilityTimeout: 5 });
    sqs.pass(5);
    const [again, b] = await receive(url);

    const { Successful, Failed } = await sqs.client.send(
      new DeleteMessageBatchCommand({
        QueueUrl: url,
        Entries: [
          { Id: 'stale', ReceiptHandle: a?.ReceiptHandle },
          { Id: 'good', ReceiptHandle: b?.ReceiptHandle },
          { Id: 'bad', ReceiptHandle: 'nonsense' },
        ],
      }),
    );

    expect(Successful).toEqual([{ Id: 'good' }]);
    expect(Failed).toMatchObject([
      { Id: 'stale', Code: 'InvalidParameterValue', SenderFault: true },
      { Id: 'bad', Code: 'ReceiptHandleIsInvalid', SenderFault: true },
    ]);
    expect(again?.Body).toBe('a');
    expect(await sqs.counts(url)).toEqual([0, 1, 0]);
  });

  it('purges everything, once a minute', async () => {
    const { url } = await sqs.createQueue('q');
    await send(url, 'a');
    await send(url, 'b', { DelaySeconds: 10 });
    const purge = () => sqs.client.send(new PurgeQueueCommand({ QueueUrl: url }));

    await purge();

    expect(await sqs.counts(url)).toEqual([0, 0, 0]);
    await expect(purge()).rejects.toMatchObject({
      name: 'PurgeQueueInProgress',
      $metadata: { httpStatusCode: 403 },
    });
    sqs.pass(60);
    await purge();
  });

  it('drops what is older than the retention period', async () => {
    const { url } = await sqs.createQueue('q', { MessageRetentionPeriod: '60' });
    await send(url, 'old');
    sqs.pass(60);
    await send(url, 'new');

    expect(bodies(await receive(url))).toEqual(['new']);
  });
});

describe('SQS batches', () => {
  it('sends ten, and answers per entry', async () => {
    const { url } = await sqs.createQueue('q');
    const Entries = [
      { Id: 'good', MessageBody: 'a' },
      { Id: 'bad', MessageBody: 'b', DelaySeconds: 1_000 },
    ];

    const { Successful, Failed } = await sqs.client.send(
      new SendMessageBatchCommand({ QueueUrl: url, Entries }),
    );

    expect(Successful).toMatchObject([{ Id: 'good', MD5OfMessageBody: '0cc175b9c0f1b6a831c399e269772661' }]);
    expect(Failed).toMatchObject([{ Id: 'bad', Code: 'InvalidParameterValue', SenderFault: true }]);
    expect(bodies(await receive(url))).toEqual(['a']);
  });

  it.each([
    ['EmptyBatchRequest', []],
    [
      'TooManyEntriesInBatchRequest',
      Array.from({ length: 11 }, (_, i) => ({ Id: `${i}`, MessageBody: 'a' })),
    ],
    ['BatchEntryIdsNotDistinct', ['x', 'x'].map((Id) => ({ Id, MessageBody: 'a' }))],
    ['InvalidBatchEntryId', [{ Id: 'not ok', MessageBody: 'a' }]],
    ['BatchRequestTooLong', ['a', 'b'].map((Id) => ({ Id, MessageBody: 'x'.repeat(524_289) }))],
  ])('refuses the whole batch with %s', async (name, Entries) => {
    const { url } = await sqs.createQueue('q');

    await expect(
      sqs.client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries })),
    ).rejects.toMatchObject({ name });
    expect(await sqs.counts(url)).toEqual([0, 0, 0]);
  });

  it.each([0, 11])('refuses to receive %i messages', async (MaxNumberOfMessages) => {
    const { url } = await sqs.createQueue('q');

    await expect(receive(url, { MaxNumberOfMessages })).rejects.toMatchObject({
      name: 'InvalidParameterValue',
    });
  });
});

describe('SQS FIFO queues', () => {
  const fifo = (attributes = {}) =>
    sqs.createQueue('q.fifo', { ContentBasedDeduplication: 'true', ...attributes });

  it('keeps the order within a group over a redelivery', async () => {
    const { url } = await fifo();
    for (const body of ['1', '2', '3']) await send(url, body, { MessageGroupId: 'A' });

    expect(bodies(await receive(url, { MaxNumberOfMessages: 2 }))).toEqual(['1', '2']);
    sqs.pass(30);
    const again = await receive(url);

    expect(bodies(again)).toEqual(['1', '2', '3']);
    const numbers = again.map(({ Attributes }) => Attributes?.SequenceNumber ?? '');
    expect(numbers).toEqual([...numbers].sort());
    expect(new Set(numbers.map(({ length }) => length))).toEqual(new Set([20]));
  });

  it('gives nothing more of a group that has a message in flight, and other groups meanwhile', async () => {
    const { url } = await fifo();
    await send(url, 'A1', { MessageGroupId: 'A' });
    await send(url, 'A2', { MessageGroupId: 'A' });
    await send(url, 'B1', { MessageGroupId: 'B' });

    const [a1] = await receive(url, { MaxNumberOfMessages: 1 });
    expect(bodies(await receive(url))).toEqual(['B1']);
    expect(await receive(url)).toEqual([]);
    await remove(url, a1);

    expect(bodies(await receive(url))).toEqual(['A2']);
  });

  it('blocks a group behind a message whose visibility was extended', async () => {
    const { url } = await fifo();
    await send(url, 'A1', { MessageGroupId: 'A' });
    await send(url, 'A2', { MessageGroupId: 'A' });
    const [a1] = await receive(url, { MaxNumberOfMessages: 1 });
    await changeVisibility(url, a1, 100);

    sqs.pass(99);
    expect(await receive(url)).toEqual([]);
    sqs.pass(1);

    expect(bodies(await receive(url))).toEqual(['A1', 'A2']);
  });

  it('deduplicates by content for five minutes, also after the deletion', async () => {
    const { url } = await fifo();
    const first = await send(url, 'same', { MessageGroupId: 'A' });
    const [message] = await receive(url);
    await remove(url, message);

    sqs.pass(299);
    const second = await send(url, 'same', { MessageGroupId: 'B' });
    expect(second.MessageId).toBe(first.MessageId);
    expect(second.SequenceNumber).toBe(first.SequenceNumber);
    expect(await sqs.counts(url)).toEqual([0, 0, 0]);
    sqs.pass(1);
    await send(url, 'same', { MessageGroupId: 'A' });

    expect(bodies(await receive(url))).toEqual(['same']);
  });

  it('deduplicates by id whatever the content', async () => {
    const { url } = await fifo();
    await send(url, 'one', { MessageGroupId: 'A', MessageDeduplicationId: 'id' });
    await send(url, 'two', { MessageGroupId: 'A', MessageDeduplicationId: 'id' });

    expect(bodies(await receive(url))).toEqual(['one']);
  });

  it('deduplicates per group when the queue says so', async () => {
    const { url } = await fifo({
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
    });
    await send(url, 'same', { MessageGroupId: 'A' });
    await send(url, 'same', { MessageGroupId: 'A' });
    await send(url, 'same', { MessageGroupId: 'B' });

    expect((await receive(url)).map(({ Attributes }) => Attributes?.MessageGroupId)).toEqual(['A', 'B']);
  });

  it('wants a group, and an id unless it deduplicates by content', async () => {
    const { url } = await fifo({ ContentBasedDeduplication: 'false' });

    await expect(send(url, 'a', { MessageDeduplicationId: 'x' })).rejects.toMatchObject({
      name: 'MissingParameter',
    });
    await expect(send(url, 'a', { MessageGroupId: 'A' })).rejects.toThrow(/MessageDeduplicationId/);
  });

  it('has no delay of single messages', async () => {
    const { url } = await fifo();

    await expect(send(url, 'a', { MessageGroupId: 'A', DelaySeconds: 5 })).rejects.toThrow(/queue type/);
  });

  it('refuses to delete by a handle that has expired', async () => {
    const { url } = await fifo();
    await send(url, 'a', { MessageGroupId: 'A' });
    const [first] = await receive(url);
    sqs.pass(30);

    await expect(remove(url, first)).rejects.toThrow(/expired/);
    expect(await sqs.counts(url)).toEqual([1, 0, 0]);
  });
});

describe('SQS fair queues', () => {
  it('takes a group on a standard queue and holds nothing back for it', async () => {
    const { url } = await sqs.createQueue('q');
    await send(url, 'A1', { MessageGroupId: 'A' });
    await send(url, 'A2', { MessageGroupId: 'A' });

    const [first] = await receive(url, { MaxNumberOfMessages: 1 });
    const [second] = await receive(url);

    expect(first?.Attributes?.MessageGroupId).toBe('A');
    expect(first?.Attributes).not.toHaveProperty('SequenceNumber');
    expect(second?.Body).toBe('A2');
  });

  it('refuses a deduplication id on a standard queue', async () => {
    const { url } = await sqs.createQueue('q');

    await expect(send(url, 'a', { MessageDeduplicationId: 'x' })).rejects.toThrow(/queue type/);
  });
});

describe('SQS dead-letter queues', () => {
  async function withDeadLetters(maxReceiveCount: number, suffix = '') {
    const dlq = await sqs.createQueue(`dlq${suffix}`);
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dlq.arn, maxReceiveCount });
    const attributes: Record<string, string> = { RedrivePolicy };
    if (suffix !== '') attributes.ContentBasedDeduplication = 'true';
    const queue = await sqs.createQueue(`q${suffix}`, attributes);
    return { dlq, queue };
  }

  it('moves a message that was received maxReceiveCount times when it would be received again', async () => {
    const { dlq, queue } = await withDeadLetters(3);
    const sent = await send(queue.url, 'poison', {
      MessageAttributes: { a: { DataType: 'String', StringValue: 'kept' } },
      MessageGroupId: 'tenant',
    });
    const sentAt = String(sqs.clock.now());
    for (let time = 1; time <= 3; time += 1) {
      expect((await receive(queue.url))[0]?.Attributes?.ApproximateReceiveCount).toBe(String(time));
      sqs.pass(30);
    }

    expect(await receive(queue.url)).toEqual([]);

    const [moved] = await receive(dlq.url);
    expect(moved).toMatchObject({
      MessageId: sent.MessageId,
      Body: 'poison',
      MessageAttributes: { a: { StringValue: 'kept' } },
      Attributes: {
        SentTimestamp: sentAt,
        MessageGroupId: 'tenant',
        DeadLetterQueueSourceArn: queue.arn,
        ApproximateReceiveCount: '4',
      },
    });
  });

  it('moves the message of a FIFO group out of the way of its successors', async () => {
    const { dlq, queue } = await withDeadLetters(1, '.fifo');
    await send(queue.url, 'A1', { MessageGroupId: 'A' });
    await send(queue.url, 'A2', { MessageGroupId: 'A' });
    await receive(queue.url, { MaxNumberOfMessages: 1 });
    sqs.pass(30);

    expect(bodies(await receive(queue.url))).toEqual(['A2']);
    expect(bodies(await receive(dlq.url))).toEqual(['A1']);
  });

  it('goes on delivering when the dead-letter queue is gone', async () => {
    const { dlq, queue } = await withDeadLetters(1);
    await send(queue.url, 'a');
    await receive(queue.url);
    sqs.pass(30);
    await sqs.client.send(new DeleteQueueCommand({ QueueUrl: dlq.url }));

    expect(bodies(await receive(queue.url))).toEqual(['a']);
  });

  it('refuses a target that is missing or of the other kind', async () => {
    const { dlq } = await withDeadLetters(1);
    const create = (name: string, deadLetterTargetArn: string) =>
      sqs.createQueue(name, { RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 3 }) });

    await expect(create('b', `${dlq.arn}-not`)).rejects.toMatchObject({ name: 'InvalidAttributeValue' });
    await expect(create('b.fifo', dlq.arn)).rejects.toMatchObject({ name: 'InvalidAttributeValue' });
  });

  it('lists the queues whose dead-letter queue it is', async () => {
    const { dlq, queue } = await withDeadLetters(1);

    const { queueUrls } = await sqs.client.send(new ListDeadLetterSourceQueuesCommand({ QueueUrl: dlq.url }));

    expect(queueUrls).toEqual([queue.url]);
  });

  describe('move tasks', () => {
    async function poison(count: number) {
      const queues = await withDeadLetters(1);
      for (let index = 0; index < count; index += 1) await send(queues.queue.url, `m${index}`);
      for (let left = count; left > 0; left -= 10) await receive(queues.queue.url);
      sqs.pass(30);
      await receive(queues.queue.url);
      expect(await sqs.counts(queues.dlq.url)).toEqual([count, 0, 0]);
      return queues;
    }
    const start = (input: ConstructorParameters<typeof StartMessageMoveTaskCommand>[0]) =>
      sqs.client.send(new StartMessageMoveTaskCommand(input));
    const list = async (SourceArn: string) =>
      (await sqs.client.send(new ListMessageMoveTasksCommand({ SourceArn, MaxResults: 10 }))).Results ?? [];

    it('sends messages back to where they came from, with new ids and counts', async () => {
      const { dlq, queue } = await poison(2);
      const ids = sqs.store
        .queue('dlq')
        .messages()
        .map(({ id }) => id);

      await start({ SourceArn: dlq.arn });

      const back = await receive(queue.url);
      expect(bodies(back)).toEqual(['m0', 'm1']);
      expect(back.map(({ MessageId }) => ids.includes(MessageId ?? ''))).toEqual([false, false]);
      expect(back[0]?.Attributes).toMatchObject({
        ApproximateReceiveCount: '1',
        SentTimestamp: String(sqs.clock.now()),
      });
      expect(back[0]?.Attributes).not.toHaveProperty('DeadLetterQueueSourceArn');
      expect(await list(dlq.arn)).toMatchObject([
        { Status: 'COMPLETED', ApproximateNumberOfMessagesMoved: 2, ApproximateNumberOfMessagesToMove: 2 },
      ]);
    });

    it('moves at the given rate, and stops when cancelled', async () => {
      const { dlq, queue } = await poison(5);
      const other = await sqs.createQueue('other');

      const { TaskHandle } = await start({
        SourceArn: dlq.arn,
        DestinationArn: other.arn,
        MaxNumberOfMessagesPerSecond: 2,
      });
      expect(await sqs.counts(other.url)).toEqual([2, 0, 0]);
      await expect(start({ SourceArn: dlq.arn })).rejects.toThrow(/already a task running/);
      sqs.pass(1);
      expect(await sqs.counts(other.url)).toEqual([4, 0, 0]);
      const cancelled = await sqs.client.send(new CancelMessageMoveTaskCommand({ TaskHandle }));
      sqs.pass(1);

      expect(cancelled.ApproximateNumberOfMessagesMoved).toBe(4);
      expect(await sqs.counts(dlq.url)).toEqual([1, 0, 0]);
      expect(await sqs.counts(queue.url)).toEqual([0, 0, 0]);
      const [task] = await list(dlq.arn);
      expect(task).toMatchObject({ Status: 'CANCELLED', MaxNumberOfMessagesPerSecond: 2 });
      expect(task).not.toHaveProperty('TaskHandle');
    });

    it('fails on a message that was sent to the dead-letter queue directly, and keeps it', async () => {
      const { dlq } = await withDeadLetters(1);
      await send(dlq.url, 'direct');

      await start({ SourceArn: dlq.arn });

      expect(await list(dlq.arn)).toMatchObject([
        { Status: 'FAILED', FailureReason: 'CouldNotDetermineMessageSource' },
      ]);
      expect(await sqs.counts(dlq.url)).toEqual([1, 0, 0]);
    });

    it('starts only on a dead-letter queue, at no more than 500 messages a second', async () => {
      const { dlq, queue } = await withDeadLetters(1);

      await expect(start({ SourceArn: queue.arn })).rejects.toThrow(/Dead Letter Queue/);
      await expect(start({ SourceArn: `${dlq.arn}-not` })).rejects.toMatchObject({
        name: 'ResourceNotFoundException',
      });
      await expect(start({ SourceArn: dlq.arn, MaxNumberOfMessagesPerSecond: 501 })).rejects.toThrow(/500/);
    });
  });
});

describe('SQS queues', () => {
  it('creates a queue once, and refuses it with other attributes', async () => {
    const first = await sqs.createQueue('q', { VisibilityTimeout: '45' });

    expect(await sqs.createQueue('q', { VisibilityTimeout: '45' })).toEqual(first);
    await expect(sqs.createQueue('q', { VisibilityTimeout: '46' })).rejects.toMatchObject({
      name: 'QueueNameExists',
      Code: 'QueueAlreadyExists',
    });
  });

  it('does not know a queue that was not created', async () => {
    await expect(sqs.client.send(new GetQueueUrlCommand({ QueueName: 'nope' }))).rejects.toMatchObject({
      name: 'QueueDoesNotExist',
      Code: 'AWS.SimpleQueueService.NonExistentQueue',
    });
  });

  it.each(['has space', 'a'.repeat(81), 'dots.in.it'])('refuses the name %j', async (QueueName) => {
    await expect(sqs.client.send(new CreateQueueCommand({ QueueName }))).rejects.toMatchObject({
      name: 'InvalidParameterValue',
    });
  });

  it('lists by prefix and page', async () => {
    for (const name of ['a-1', 'a-2', 'a-3', 'b-1']) await sqs.createQueue(name);
    const list = (NextToken?: string) =>
      sqs.client.send(new ListQueuesCommand({ QueueNamePrefix: 'a-', MaxResults: 2, NextToken }));

    const first = await list();
    const second = await list(first.NextToken);

    const names = [...(first.QueueUrls ?? []), ...(second.QueueUrls ?? [])].map((url) =>
      url.split('/').at(-1),
    );
    expect(names).toEqual(['a-1', 'a-2', 'a-3']);
    expect(second.NextToken).toBeUndefined();
  });

  it.each([
    ['InvalidAttributeName', 'ContentBasedDeduplication', 'true'],
    ['InvalidAttributeValue', 'VisibilityTimeout', '43201'],
    ['InvalidAttributeValue', 'RedrivePolicy', '{}'],
  ])('answers %s when a standard queue is to have %s = %s', async (name, attribute, value) => {
    const { url } = await sqs.createQueue('q');

    await expect(
      sqs.client.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: { [attribute]: value } })),
    ).rejects.toMatchObject({ name });
  });
});

describe('SQS snapshots', () => {
  it('keep messages, what is hidden, and what was deduplicated', async () => {
    const { url } = await sqs.createQueue('q.fifo', { ContentBasedDeduplication: 'true' });
    await send(url, 'A1', { MessageGroupId: 'A' });
    await send(url, 'A2', { MessageGroupId: 'A' });
    const [a1] = await receive(url, { MaxNumberOfMessages: 1 });
    const snapshot = JSON.parse(JSON.stringify(sqs.store.snapshot()));

    sqs = setUpSqs();
    sqs.store.restore(snapshot);

    expect(await receive(url)).toEqual([]);
    await send(url, 'A1', { MessageGroupId: 'A' });
    expect(await sqs.counts(url)).toEqual([1, 1, 0]);
    await remove(url, a1);
    expect(bodies(await receive(url))).toEqual(['A2']);
  });
});
