import {
  CancelMessageMoveTaskCommand,
  DeleteQueueCommand,
  ListDeadLetterSourceQueuesCommand,
  ListMessageMoveTasksCommand,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs';
import { beforeEach, describe, expect, it } from 'vitest';
import { bodies, setUpSqs } from './sqs-setup.ts';

let sqs: ReturnType<typeof setUpSqs>;

beforeEach(() => {
  sqs = setUpSqs();
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
    const sent = await sqs.send(queue.url, 'poison', {
      MessageAttributes: { a: { DataType: 'String', StringValue: 'kept' } },
      MessageGroupId: 'tenant',
    });
    const sentAt = String(sqs.clock.now());
    for (let time = 1; time <= 3; time += 1) {
      expect((await sqs.receive(queue.url))[0]?.Attributes?.ApproximateReceiveCount).toBe(String(time));
      sqs.pass(30);
    }

    expect(await sqs.receive(queue.url)).toEqual([]);

    const [moved] = await sqs.receive(dlq.url);
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
    await sqs.send(queue.url, 'A1', { MessageGroupId: 'A' });
    await sqs.send(queue.url, 'A2', { MessageGroupId: 'A' });
    await sqs.receive(queue.url, { MaxNumberOfMessages: 1 });
    sqs.pass(30);

    expect(bodies(await sqs.receive(queue.url))).toEqual(['A2']);
    expect(bodies(await sqs.receive(dlq.url))).toEqual(['A1']);
  });

  it('goes on delivering when the dead-letter queue is gone', async () => {
    const { dlq, queue } = await withDeadLetters(1);
    await sqs.send(queue.url, 'a');
    await sqs.receive(queue.url);
    sqs.pass(30);
    await sqs.client.send(new DeleteQueueCommand({ QueueUrl: dlq.url }));

    expect(bodies(await sqs.receive(queue.url))).toEqual(['a']);
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
      for (let index = 0; index < count; index += 1) await sqs.send(queues.queue.url, `m${index}`);
      for (let left = count; left > 0; left -= 10) await sqs.receive(queues.queue.url);
      sqs.pass(30);
      await sqs.receive(queues.queue.url);
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

      const back = await sqs.receive(queue.url);
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
      await sqs.send(dlq.url, 'direct');

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
