import {
  CreateQueueCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  SetQueueAttributesCommand,
} from '@aws-sdk/client-sqs';
import { beforeEach, describe, expect, it } from 'vitest';
import { bodies, setUpSqs } from './sqs-setup.ts';

let sqs: ReturnType<typeof setUpSqs>;

beforeEach(() => {
  sqs = setUpSqs();
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
    await sqs.send(url, 'A1', { MessageGroupId: 'A' });
    await sqs.send(url, 'A2', { MessageGroupId: 'A' });
    const [a1] = await sqs.receive(url, { MaxNumberOfMessages: 1 });
    const snapshot = JSON.parse(JSON.stringify(sqs.store.snapshot()));

    sqs = setUpSqs();
    sqs.store.restore(snapshot);

    expect(await sqs.receive(url)).toEqual([]);
    await sqs.send(url, 'A1', { MessageGroupId: 'A' });
    expect(await sqs.counts(url)).toEqual([1, 1, 0]);
    await sqs.remove(url, a1);
    expect(bodies(await sqs.receive(url))).toEqual(['A2']);
  });
});
