import { beforeEach, describe, expect, it } from 'vitest';
import { bodies, setUpSqs } from './sqs-setup.ts';

let sqs: ReturnType<typeof setUpSqs>;

beforeEach(() => {
  sqs = setUpSqs();
});

describe('SQS FIFO queues', () => {
  const fifo = (attributes = {}) =>
    sqs.createQueue('q.fifo', { ContentBasedDeduplication: 'true', ...attributes });

  it('keeps the order within a group over a redelivery', async () => {
    const { url } = await fifo();
    for (const body of ['1', '2', '3']) await sqs.send(url, body, { MessageGroupId: 'A' });

    expect(bodies(await sqs.receive(url, { MaxNumberOfMessages: 2 }))).toEqual(['1', '2']);
    sqs.pass(30);
    const again = await sqs.receive(url);

    expect(bodies(again)).toEqual(['1', '2', '3']);
    const numbers = again.map(({ Attributes }) => Attributes?.SequenceNumber ?? '');
    expect(numbers).toEqual([...numbers].sort());
    expect(new Set(numbers.map(({ length }) => length))).toEqual(new Set([20]));
  });

  it('gives nothing more of a group that has a message in flight, and other groups meanwhile', async () => {
    const { url } = await fifo();
    await sqs.send(url, 'A1', { MessageGroupId: 'A' });
    await sqs.send(url, 'A2', { MessageGroupId: 'A' });
    await sqs.send(url, 'B1', { MessageGroupId: 'B' });

    const [a1] = await sqs.receive(url, { MaxNumberOfMessages: 1 });
    expect(bodies(await sqs.receive(url))).toEqual(['B1']);
    expect(await sqs.receive(url)).toEqual([]);
    await sqs.remove(url, a1);

    expect(bodies(await sqs.receive(url))).toEqual(['A2']);
  });

  it('blocks a group behind a message whose visibility was extended', async () => {
    const { url } = await fifo();
    await sqs.send(url, 'A1', { MessageGroupId: 'A' });
    await sqs.send(url, 'A2', { MessageGroupId: 'A' });
    const [a1] = await sqs.receive(url, { MaxNumberOfMessages: 1 });
    await sqs.changeVisibility(url, a1, 100);

    sqs.pass(99);
    expect(await sqs.receive(url)).toEqual([]);
    sqs.pass(1);

    expect(bodies(await sqs.receive(url))).toEqual(['A1', 'A2']);
  });

  it('deduplicates by content for five minutes, also after the deletion', async () => {
    const { url } = await fifo();
    const first = await sqs.send(url, 'same', { MessageGroupId: 'A' });
    const [message] = await sqs.receive(url);
    await sqs.remove(url, message);

    sqs.pass(299);
    const second = await sqs.send(url, 'same', { MessageGroupId: 'B' });
    expect(second.MessageId).toBe(first.MessageId);
    expect(second.SequenceNumber).toBe(first.SequenceNumber);
    expect(await sqs.counts(url)).toEqual([0, 0, 0]);
    sqs.pass(1);
    await sqs.send(url, 'same', { MessageGroupId: 'A' });

    expect(bodies(await sqs.receive(url))).toEqual(['same']);
  });

  it('deduplicates by id whatever the content', async () => {
    const { url } = await fifo();
    await sqs.send(url, 'one', { MessageGroupId: 'A', MessageDeduplicationId: 'id' });
    await sqs.send(url, 'two', { MessageGroupId: 'A', MessageDeduplicationId: 'id' });

    expect(bodies(await sqs.receive(url))).toEqual(['one']);
  });

  it('deduplicates per group when the queue says so', async () => {
    const { url } = await fifo({
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
    });
    await sqs.send(url, 'same', { MessageGroupId: 'A' });
    await sqs.send(url, 'same', { MessageGroupId: 'A' });
    await sqs.send(url, 'same', { MessageGroupId: 'B' });

    expect((await sqs.receive(url)).map(({ Attributes }) => Attributes?.MessageGroupId)).toEqual(['A', 'B']);
  });

  it('wants a group, and an id unless it deduplicates by content', async () => {
    const { url } = await fifo({ ContentBasedDeduplication: 'false' });

    await expect(sqs.send(url, 'a', { MessageDeduplicationId: 'x' })).rejects.toMatchObject({
      name: 'MissingParameter',
    });
    await expect(sqs.send(url, 'a', { MessageGroupId: 'A' })).rejects.toThrow(/MessageDeduplicationId/);
  });

  it('has no delay of single messages', async () => {
    const { url } = await fifo();

    await expect(sqs.send(url, 'a', { MessageGroupId: 'A', DelaySeconds: 5 })).rejects.toThrow(/queue type/);
  });

  it('refuses to delete by a handle that has expired', async () => {
    const { url } = await fifo();
    await sqs.send(url, 'a', { MessageGroupId: 'A' });
    const [first] = await sqs.receive(url);
    sqs.pass(30);

    await expect(sqs.remove(url, first)).rejects.toThrow(/expired/);
    expect(await sqs.counts(url)).toEqual([1, 0, 0]);
  });
});

describe('SQS fair queues', () => {
  it('takes a group on a standard queue and holds nothing back for it', async () => {
    const { url } = await sqs.createQueue('q');
    await sqs.send(url, 'A1', { MessageGroupId: 'A' });
    await sqs.send(url, 'A2', { MessageGroupId: 'A' });

    const [first] = await sqs.receive(url, { MaxNumberOfMessages: 1 });
    const [second] = await sqs.receive(url);

    expect(first?.Attributes?.MessageGroupId).toBe('A');
    expect(first?.Attributes).not.toHaveProperty('SequenceNumber');
    expect(second?.Body).toBe('A2');
  });

  it('refuses a deduplication id on a standard queue', async () => {
    const { url } = await sqs.createQueue('q');

    await expect(sqs.send(url, 'a', { MessageDeduplicationId: 'x' })).rejects.toThrow(/queue type/);
  });
});
