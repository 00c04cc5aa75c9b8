import { SendMessageCommand, type SendMessageCommandInput } from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { runUntil, settle } from '../../../local/drive.ts';
import type { FaultInjector } from '../../../local/edge/faults.ts';
import { createLambdaInvoker, type InvokeOutcome } from '../../../local/event-sources/lambda-invoker.ts';
import {
  createSqsEventSource,
  type SqsEventSourceOptions,
} from '../../../local/event-sources/sqs-event-source.ts';
import { setUpSqs } from '../../conformance/sqs-setup.ts';

type Settings = Partial<SqsEventSourceOptions>;

interface SetUp {
  readonly name?: string;
  readonly attributes?: Record<string, string>;
  readonly settings?: Settings;
  readonly faults?: FaultInjector;
  readonly timeoutSeconds?: number;
  readonly longPolls?: boolean;
}

async function setUp(handler: (event: SQSEvent) => Promise<unknown>, options: SetUp = {}) {
  const { name = 'q', attributes = {}, settings = {}, timeoutSeconds = 10 } = options;
  const sqs = setUpSqs(options.faults === undefined ? {} : { faults: options.faults });
  const { clock, store, client, activity, newId } = sqs;
  const dlq = await sqs.createQueue(name.replace('q', 'dlq'));
  const queue = await sqs.createQueue(name, {
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: dlq.arn, maxReceiveCount: 3 }),
    ...(name.endsWith('.fifo') ? { ContentBasedDeduplication: 'true' } : {}),
    ...attributes,
  });
  const batches: string[][] = [];
  const invoker = createLambdaInvoker({ clock, newId, functions: { starter: { handler, timeoutSeconds } } });
  const source = createSqsEventSource({
    clock,
    client,
    uuid: newId(),
    queueUrl: queue.url,
    queueArn: queue.arn,
    functionName: 'starter',
    invoke: (event) => {
      batches.push(event.Records.map(({ body }) => body));
      return invoker.invoke('starter', event);
    },
    ...(options.longPolls === true
      ? {}
      : {
          signals: store.signals(name),
        }),
    ...settings,
  });
  const send = (body: string, rest: Partial<SendMessageCommandInput> = {}) =>
    client.send(new SendMessageCommand({ QueueUrl: queue.url, MessageBody: body, ...rest }));
  const until = (predicate: () => boolean) => runUntil(predicate, { clock, inFlight: activity.inFlight });
  const stored = () =>
    store
      .queue(name)
      .messages()
      .map(({ body }) => body);
  const dead = () =>
    store
      .queue(name.replace('q', 'dlq'))
      .messages()
      .map(({ body }) => body);
  const rest = () => settle(activity.inFlight);
  return { ...sqs, queue, dlq, batches, source, send, until, rest, stored, dead };
}

const failures = (...ids: unknown[]) => ({
  batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })),
});

describe('SQS event source', () => {
  it('hands over records in Lambda’s form', async () => {
    const events: SQSEvent[] = [];
    const t = await setUp(async (event) => {
      events.push(event);
    });
    const sentAt = t.clock.now();

    const { MessageId } = await t.send('hello', {
      MessageAttributes: {
        traceparent: { DataType: 'String', StringValue: '00-aa-bb-01' },
        bytes: { DataType: 'Binary', BinaryValue: Uint8Array.of(1, 2) },
      },
      MessageGroupId: 'tenant',
    });
    await t.until(() => t.stored().length === 0);

    expect(events).toEqual([
      {
        Records: [
          {
            messageId: MessageId,
            receiptHandle: expect.stringMatching(/^[\w+/=]+$/),
            body: 'hello',
            attributes: {
              ApproximateReceiveCount: '1',
              SentTimestamp: String(sentAt),
              SenderId: expect.any(String),
              ApproximateFirstReceiveTimestamp: String(sentAt),
              MessageGroupId: 'tenant',
            },
            messageAttributes: {
              traceparent: {
                stringValue: '00-aa-bb-01',
                stringListValues: [],
                binaryListValues: [],
                dataType: 'String',
              },
              bytes: { binaryValue: 'AQI=', stringListValues: [], binaryListValues: [], dataType: 'Binary' },
            },
            md5OfBody: '5d41402abc4b2a76b9719d911017c592',
            md5OfMessageAttributes: expect.stringMatching(/^[0-9a-f]{32}$/),
            eventSource: 'aws:sqs',
            eventSourceARN: t.queue.arn,
            awsRegion: 'us-east-1',
          },
        ],
      },
    ]);
  });

  it('deletes what succeeded and leaves what failed to its visibility timeout', async () => {
    const t = await setUp(async ({ Records }) =>
      failures(...Records.filter(({ body }) => body === 'bad').map(({ messageId }) => messageId)),
    );
    const start = t.clock.now();
    for (const body of ['one', 'bad', 'two']) await t.send(body);

    await t.until(() => t.dead().length === 1);

    expect(t.stored()).toEqual([]);
    expect(t.dead()).toEqual(['bad']);
    expect(t.batches.flat().filter((body) => body === 'bad')).toHaveLength(3);
    expect(t.clock.now() - start).toBe(90_000);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['an empty object', {}],
    ['an empty list', { batchItemFailures: [] }],
    ['a null list', { batchItemFailures: null }],
  ])('takes a response of %s as success', async (_name, response) => {
    const t = await setUp(async () => response);
    await t.send('a');

    await t.until(() => t.batches.length === 1);
    await t.rest();

    expect(t.stored()).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['an empty id', failures('')],
    ['a null id', failures(null)],
    ['an id of another batch', failures('11111111-0000-4000-8000-000000000000')],
    ['a misspelt key', { batchItemFailures: [{ itemIdentifer: 'x' }] }],
    ['a list that is none', { batchItemFailures: 'all' }],
    ['a text', 'done'],
  ])('takes a response with %s as the failure of the whole batch', async (_name, response) => {
    const t = await setUp(async () => response);
    await t.send('a');
    await t.send('b');

    await t.until(() => t.batches.length > 0);
    await t.rest();

    expect(t.stored()).toEqual(['a', 'b']);
  });

  it('fails the whole batch when the function throws, times out or is throttled', async () => {
    const outcomes: InvokeOutcome[] = [
      { status: 'failed', requestId: '1', error: { errorType: 'Error', errorMessage: 'no' } },
      { status: 'throttled', requestId: '2' },
    ];
    const invoked: number[] = [];
    const t = await setUp(async () => undefined, {
      settings: {
        invoke: async ({ Records }) => {
          invoked.push(Records.length);
          return outcomes.shift() ?? { status: 'succeeded', requestId: '3', payload: null };
        },
      },
    });
    await t.send('a');

    await t.until(() => t.stored().length === 0);

    expect(invoked).toEqual([1, 1, 1]);
    expect(t.dead()).toEqual([]);
  });

  it('ignores the response when partial responses are switched off', async () => {
    const t = await setUp(async ({ Records }) => failures(Records[0]?.messageId), {
      settings: { reportBatchItemFailures: false },
    });
    await t.send('a');

    await t.until(() => t.stored().length === 0);

    expect(t.batches).toEqual([['a']]);
  });

  it('runs no more invocations at once than maxConcurrency, and loses no receive for it', async () => {
    let running = 0;
    let most = 0;
    const t = await setUp(
      async () => {
        running += 1;
        most = Math.max(most, running);
        await t.clock.sleep(20_000);
        running -= 1;
      },
      { settings: { batchSize: 1, maxConcurrency: 2 }, timeoutSeconds: 60 },
    );
    for (let index = 0; index < 20; index += 1) await t.send(`m${index}`);

    await t.until(() => t.stored().length === 0);

    expect(most).toBe(2);
    expect(t.batches).toHaveLength(20);
    expect(t.dead()).toEqual([]);
  });

  it('lets nothing reach the dead-letter queue unrun in a burst over its concurrency', async () => {
    const t = await setUp(() => t.clock.sleep(8_000), {
      settings: { batchSize: 1, maxConcurrency: 5 },
      attributes: { VisibilityTimeout: '60' },
    });
    await Promise.all(Array.from({ length: 300 }, (_, index) => t.send(`m${index}`)));

    await t.until(() => t.stored().length === 0);

    expect(t.batches).toHaveLength(300);
    expect(t.dead()).toEqual([]);
  });

  it('repeats itself exactly, faults and all', async () => {
    async function history() {
      let state = 42;
      const random = () => {
        state = (state * 48_271) % 2_147_483_647;
        return state / 2_147_483_647;
      };
      const lines: string[] = [];
      const t = await setUp(
        async ({ Records }) => {
          lines.push(`${t.clock.now()} ${Records.map(({ body }) => body).join()}`);
          await t.clock.sleep(random() * 20_000);
          return failures(...Records.filter(() => random() < 0.3).map(({ messageId }) => messageId));
        },
        {
          settings: { maxConcurrency: 3 },
          faults: ({ operation }) => {
            if (!/^(Receive|Delete)/.test(operation)) return 'none';
            const chance = random();
            return chance < 0.1 ? { before: 503 } : chance < 0.2 ? { after: 'timeout' } : 'none';
          },
        },
      );
      for (let index = 0; index < 60; index += 1) await t.send(`m${index}`, { DelaySeconds: index });
      await t.until(() => t.stored().length === 0);
      return [...lines, `dead ${t.dead().join()}`];
    }

    const first = await history();

    expect(first.length).toBeGreaterThan(20);
    expect(await history()).toEqual(first);
  });

  it('keeps one batch a message group at a time, and groups side by side', async () => {
    const running = new Set<string>();
    const overlaps: string[] = [];
    const order: string[] = [];
    const t = await setUp(
      async ({ Records }) => {
        const groups = new Set(Records.map(({ attributes }) => attributes.MessageGroupId ?? ''));
        for (const group of groups) {
          if (running.has(group)) overlaps.push(group);
          running.add(group);
        }
        await t.clock.sleep(Records[0]?.body.startsWith('A') ? 9_000 : 1_000);
        order.push(...Records.map(({ body }) => body));
        for (const group of groups) running.delete(group);
      },
      { name: 'q.fifo', settings: { batchSize: 1 } },
    );
    for (const body of ['A1', 'A2', 'B1', 'B2']) await t.send(body, { MessageGroupId: body.slice(0, 1) });

    await t.until(() => t.stored().length === 0);

    expect(overlaps).toEqual([]);
    expect(order).toEqual(['B1', 'B2', 'A1', 'A2']);
  });

  it('gathers a batch over ten within its window', async () => {
    const t = await setUp(async () => undefined, { settings: { batchSize: 25, batchingWindowSeconds: 5 } });
    const start = t.clock.now();
    for (let index = 0; index < 30; index += 1)
      await t.send(`m${index}`, { DelaySeconds: index < 12 ? 0 : 2 });

    await t.until(() => t.stored().length === 0);

    expect(t.batches.map(({ length }) => length)).toEqual([25, 5]);
    expect(t.clock.now() - start).toBe(7_000);
  });

  it('splits what is too large for one event', async () => {
    const t = await setUp(async () => undefined);
    t.source.setEnabled(false);
    for (let index = 0; index < 8; index += 1) await t.send('x'.repeat(1_000_000));
    t.source.setEnabled(true);

    await t.until(() => t.stored().length === 0);

    expect(t.batches.map(({ length }) => length)).toEqual([6, 2]);
  });

  it('receives nothing while it is paused', async () => {
    const t = await setUp(async () => undefined);
    t.source.setEnabled(false);
    await t.send('a');
    await t.rest();
    expect(t.batches).toEqual([]);

    t.source.setEnabled(true);
    await t.until(() => t.stored().length === 0);

    expect(t.batches).toEqual([['a']]);
  });

  it('ends what is under way when it is stopped, and takes up nothing more', async () => {
    const t = await setUp(() => t.clock.sleep(5_000));
    await t.send('a');
    await t.until(() => t.batches.length === 1);
    let stopped = false;
    void t.source.stop().then(() => {
      stopped = true;
    });
    await t.send('b');
    await t.rest();
    expect(stopped).toBe(false);

    await t.until(() => stopped);

    expect(t.stored()).toEqual(['b']);
  });

  it('goes on after the queue failed', async () => {
    let left = 3;
    const errors: unknown[] = [];
    const t = await setUp(async () => undefined, {
      faults: ({ operation }) => (operation === 'ReceiveMessage' && left-- > 0 ? { before: 503 } : 'none'),
      settings: { onError: (error) => errors.push(error) },
    });
    await t.send('a');

    await t.until(() => t.stored().length === 0);

    expect(errors).toHaveLength(1);
  });

  it('works with long polls alone', async () => {
    const t = await setUp(async () => undefined, { longPolls: true });
    await t.send('a', { DelaySeconds: 50 });

    await t.until(() => t.stored().length === 0);

    expect(t.batches).toEqual([['a']]);
  });

  it.each<[string, Settings]>([
    ['a concurrency of 1', { maxConcurrency: 1 }],
    ['more than ten messages without a window', { batchSize: 11 }],
    ['a window on a FIFO queue', { batchingWindowSeconds: 1, queueArn: 'arn:aws:sqs:us-east-1:0:q.fifo' }],
    ['more than ten messages of a FIFO queue', { batchSize: 11, queueArn: 'arn:aws:sqs:us-east-1:0:q.fifo' }],
  ])('refuses %s', async (_name, settings) => {
    await expect(setUp(async () => undefined, { settings })).rejects.toThrow(RangeError);
  });
});
