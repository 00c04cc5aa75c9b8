import { ChangeMessageVisibilityBatchCommand, type Message } from '@aws-sdk/client-sqs';
import { beforeEach, describe, expect, it } from 'vitest';
import { runUntil } from '../../local/drive.ts';
import { bodies, setUpSqs } from './sqs-setup.ts';

let sqs: ReturnType<typeof setUpSqs>;

beforeEach(() => {
  sqs = setUpSqs();
});

describe('SQS visibility', () => {
  it('hides a received message until its visibility timeout has passed', async () => {
    const { url } = await sqs.createQueue('q', { VisibilityTimeout: '30' });
    await sqs.send(url, 'a');

    expect(bodies(await sqs.receive(url))).toEqual(['a']);
    expect(await sqs.receive(url)).toEqual([]);
    sqs.pass(29.999);
    expect(await sqs.receive(url)).toEqual([]);
    sqs.pass(0.001);
    expect(bodies(await sqs.receive(url))).toEqual(['a']);
  });

  it('prefers the timeout given with the receive', async () => {
    const { url } = await sqs.createQueue('q', { VisibilityTimeout: '30' });
    await sqs.send(url, 'a');

    await sqs.receive(url, { VisibilityTimeout: 5 });
    sqs.pass(5);

    expect(bodies(await sqs.receive(url))).toEqual(['a']);
  });

  it('extends and ends a timeout by ChangeMessageVisibility, counted from the call', async () => {
    const { url } = await sqs.createQueue('q', { VisibilityTimeout: '30' });
    await sqs.send(url, 'a');
    const [first] = await sqs.receive(url);

    sqs.pass(20);
    await sqs.changeVisibility(url, first, 30);
    sqs.pass(29);
    expect(await sqs.receive(url)).toEqual([]);
    await sqs.changeVisibility(url, first, 0);

    expect(bodies(await sqs.receive(url))).toEqual(['a']);
  });

  it('refuses to change the visibility of a message that is not in flight', async () => {
    const { url } = await sqs.createQueue('q');
    await sqs.send(url, 'a');
    const [first] = await sqs.receive(url);
    sqs.pass(30);

    await expect(sqs.changeVisibility(url, first, 10)).rejects.toMatchObject({
      name: 'MessageNotInflight',
      Code: 'AWS.SimpleQueueService.MessageNotInflight',
    });
  });

  it('refuses to change the visibility of a deleted message', async () => {
    const { url } = await sqs.createQueue('q');
    await sqs.send(url, 'a');
    const [first] = await sqs.receive(url);
    await sqs.remove(url, first);

    await expect(sqs.changeVisibility(url, first, 10)).rejects.toMatchObject({
      name: 'InvalidParameterValue',
    });
  });

  it('lets nobody hide a message for more than 12 hours in all', async () => {
    const { url } = await sqs.createQueue('q');
    await sqs.send(url, 'a');
    const [first] = await sqs.receive(url, { VisibilityTimeout: 43_200 });
    sqs.pass(1);

    await expect(sqs.changeVisibility(url, first, 43_200)).rejects.toThrow(/beyond the limit/);
    await sqs.changeVisibility(url, first, 43_199);
    expect(await sqs.counts(url)).toEqual([0, 1, 0]);
  });

  it('answers per entry in a ChangeMessageVisibilityBatch', async () => {
    const { url } = await sqs.createQueue('q');
    await sqs.send(url, 'a');
    const [first] = await sqs.receive(url);

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
    await sqs.send(url, 'queue');
    await sqs.send(url, 'own', { DelaySeconds: 2 });
    await sqs.send(url, 'none', { DelaySeconds: 0 });

    expect(await sqs.counts(url)).toEqual([1, 0, 2]);
    expect(bodies(await sqs.receive(url))).toEqual(['none']);
    sqs.pass(2);
    expect(bodies(await sqs.receive(url))).toEqual(['own']);
    sqs.pass(8);
    expect(bodies(await sqs.receive(url))).toEqual(['queue']);
  });

  it('refuses a delay over 15 minutes', async () => {
    const { url } = await sqs.createQueue('q');

    await expect(sqs.send(url, 'a', { DelaySeconds: 901 })).rejects.toMatchObject({
      name: 'InvalidParameterValue',
    });
  });
});

describe('SQS long polling', () => {
  it('answers as soon as a message is there', async () => {
    const { url } = await sqs.createQueue('q');
    const waiting = sqs.receive(url, { WaitTimeSeconds: 20 });
    await sqs.counts(url);

    await sqs.send(url, 'a');

    expect(bodies(await waiting)).toEqual(['a']);
  });

  it('answers when a hidden message becomes visible', async () => {
    const { url } = await sqs.createQueue('q');
    await sqs.send(url, 'a', { DelaySeconds: 7 });
    const start = sqs.clock.now();
    let got: Message[] | undefined;
    void sqs.receive(url, { WaitTimeSeconds: 20 }).then((messages) => {
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
    void sqs.receive(url, { WaitTimeSeconds: 20 }).then((messages) => {
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

    const sent = await sqs.send(url, 'body', { MessageAttributes });
    const [got] = await sqs.receive(url);

    expect(got?.MessageId).toBe(sent.MessageId);
    expect(got?.MD5OfMessageAttributes).toBe(sent.MD5OfMessageAttributes);
    expect(got?.MessageAttributes?.text).toEqual(MessageAttributes.text);
    expect(got?.MessageAttributes?.number).toEqual(MessageAttributes.number);
    expect([...(got?.MessageAttributes?.bytes?.BinaryValue ?? [])]).toEqual([1, 2, 255]);
  });

  it('gives only the attributes asked for', async () => {
    const { url } = await sqs.createQueue('q');
    const attribute = { DataType: 'String', StringValue: 'v' };
    await sqs.send(url, 'body', {
      MessageAttributes: { 'a.one': attribute, 'a.two': attribute, b: attribute },
    });

    const [got] = await sqs.receive(url, {
      MessageAttributeNames: ['a.*'],
      MessageSystemAttributeNames: ['SentTimestamp'],
    });

    expect(Object.keys(got?.MessageAttributes ?? {})).toEqual(['a.one', 'a.two']);
    expect(Object.keys(got?.Attributes ?? {})).toEqual(['SentTimestamp']);
  });

  it('counts receives and keeps the times of sending and first receiving', async () => {
    const { url } = await sqs.createQueue('q', { VisibilityTimeout: '1' });
    const sentAt = sqs.clock.now();
    await sqs.send(url, 'a');
    sqs.pass(3);
    const [first] = await sqs.receive(url);
    sqs.pass(5);
    const [second] = await sqs.receive(url);

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

    await expect(sqs.send(url, 'a', { MessageAttributes: { a: attribute } })).rejects.toMatchObject({
      name: 'InvalidParameterValue',
    });
  });

  it('carries the trace header as a system attribute', async () => {
    const { url } = await sqs.createQueue('q');
    await sqs.send(url, 'a', {
      MessageSystemAttributes: { AWSTraceHeader: { DataType: 'String', StringValue: 'Root=1-2-3' } },
    });

    expect((await sqs.receive(url))[0]?.Attributes?.AWSTraceHeader).toBe('Root=1-2-3');
  });
});

describe('SQS message size and content', () => {
  it('takes 1 MiB, attributes included, and not a byte more', async () => {
    const { url } = await sqs.createQueue('q');
    const MessageAttributes = { ab: { DataType: 'String', StringValue: 'cd' } };

    await sqs.send(url, 'x'.repeat(1_048_576 - 10), { MessageAttributes });

    await expect(sqs.send(url, 'x'.repeat(1_048_576 - 9), { MessageAttributes })).rejects.toMatchObject({
      name: 'InvalidParameterValue',
      message: expect.stringContaining('must be shorter than 1048576 bytes'),
    });
  });

  it('counts bytes, not characters', async () => {
    const { url } = await sqs.createQueue('q', { MaximumMessageSize: '1024' });

    await sqs.send(url, 'x'.repeat(1_024));

    await expect(sqs.send(url, 'ü'.repeat(513))).rejects.toMatchObject({ name: 'InvalidParameterValue' });
  });

  it.each(['\u0000', '\u001b', '\ufffe', '\ud800'])('refuses the character %j', async (character) => {
    const { url } = await sqs.createQueue('q');

    await expect(sqs.send(url, `a${character}`)).rejects.toMatchObject({ name: 'InvalidMessageContents' });
  });

  it('takes every other character', async () => {
    const { url } = await sqs.createQueue('q');
    const body = '\t\n\r ~\u007f\u0085\ud7ff\ue000\ufffd\u{10000}\u{1f600}';
    await sqs.send(url, body);

    expect(bodies(await sqs.receive(url))).toEqual([body]);
  });

  it('refuses an empty body', async () => {
    const { url } = await sqs.createQueue('q');

    await expect(sqs.send(url, '')).rejects.toMatchObject({ name: 'MissingParameter' });
  });
});
