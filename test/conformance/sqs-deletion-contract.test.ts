import { DeleteMessageBatchCommand, PurgeQueueCommand, SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { beforeEach, describe, expect, it } from 'vitest';
import { bodies, setUpSqs } from './sqs-setup.ts';

let sqs: ReturnType<typeof setUpSqs>;

beforeEach(() => {
  sqs = setUpSqs();
});

describe('SQS deletion', () => {
  it('deletes by the newest receipt handle, also after the timeout', async () => {
    const { url } = await sqs.createQueue('q');
    await sqs.send(url, 'a');
    const [first] = await sqs.receive(url);
    sqs.pass(60);
    await sqs.remove(url, first);

    expect(await sqs.counts(url)).toEqual([0, 0, 0]);
  });

  it('keeps the message when the handle is an outdated one, and still answers success', async () => {
    const { url } = await sqs.createQueue('q');
    await sqs.send(url, 'a');
    const [first] = await sqs.receive(url);
    sqs.pass(30);
    const [second] = await sqs.receive(url);

    await sqs.remove(url, first);
    expect(await sqs.counts(url)).toEqual([0, 1, 0]);
    await sqs.remove(url, second);
    await sqs.remove(url, second);
    expect(await sqs.counts(url)).toEqual([0, 0, 0]);
  });

  it('refuses a handle that is none, or another queue’s', async () => {
    const { url } = await sqs.createQueue('q');
    const other = await sqs.createQueue('other');
    await sqs.send(other.url, 'a');
    const [foreign] = await sqs.receive(other.url);

    await expect(sqs.remove(url, { ReceiptHandle: 'nonsense' })).rejects.toMatchObject({
      name: 'ReceiptHandleIsInvalid',
      $metadata: { httpStatusCode: 404 },
    });
    await expect(sqs.remove(url, foreign)).rejects.toMatchObject({ name: 'ReceiptHandleIsInvalid' });
  });

  it('reports failures of a DeleteMessageBatch per entry', async () => {
    const { url } = await sqs.createQueue('q.fifo', { ContentBasedDeduplication: 'true' });
    await sqs.send(url, 'a', { MessageGroupId: 'A' });
    await sqs.send(url, 'b', { MessageGroupId: 'B' });
    const [a] = await sqs.receive(url, { MaxNumberOfMessages: 1, VisibilityTimeout: 5 });
    sqs.pass(5);
    const [again, b] = await sqs.receive(url);

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
    await sqs.send(url, 'a');
    await sqs.send(url, 'b', { DelaySeconds: 10 });
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
    await sqs.send(url, 'old');
    sqs.pass(60);
    await sqs.send(url, 'new');

    expect(bodies(await sqs.receive(url))).toEqual(['new']);
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
    expect(bodies(await sqs.receive(url))).toEqual(['a']);
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

    await expect(sqs.receive(url, { MaxNumberOfMessages })).rejects.toMatchObject({
      name: 'InvalidParameterValue',
    });
  });
});
