import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../lambdas/core/json.ts';
import { runUntil, settle } from '../../../local/drive.ts';
import type { StreamRecord } from '../../../local/dynamodb/change-stream.ts';
import type { InvokeOutcome } from '../../../local/event-sources/lambda-invoker.ts';
import {
  createStreamEventSource,
  type StreamEventSourceOptions,
} from '../../../local/event-sources/stream-event-source.ts';
import { setUpStream } from './stream-setup.ts';

const key = ({ dynamodb: { Keys } }: StreamRecord) => JSON.stringify(Keys.PK).slice(6, -2);
const succeeded = (payload: JsonValue = null): InvokeOutcome => ({
  status: 'succeeded',
  requestId: 'r',
  payload,
});
const failed: InvokeOutcome = {
  status: 'failed',
  requestId: 'r',
  error: { errorType: 'Error', errorMessage: 'no' },
};

async function setUp(
  options: Partial<StreamEventSourceOptions<StreamRecord>> & {
    readonly answer?: (keys: string[], records: StreamRecord[]) => InvokeOutcome;
  } = {},
) {
  const stream = await setUpStream();
  const { answer = () => succeeded(), ...rest } = options;
  const batches: string[][] = [];
  const source = createStreamEventSource({
    clock: stream.clock,
    reader: stream.reader,
    functionName: 'waker',
    invoke: async ({ Records }) => {
      const keys = Records.map(key);
      batches.push(keys);
      return answer(keys, Records);
    },
    ...rest,
  });
  const { clock, activity } = stream;
  const until = (predicate: () => boolean) => runUntil(predicate, { clock, inFlight: activity.inFlight });
  return { ...stream, source, batches, until, rest: () => settle(activity.inFlight) };
}

describe('stream event source', () => {
  it('hands over changes in order, in batches', async () => {
    const t = await setUp({ batchSize: 2 });
    t.source.setEnabled(false);
    for (const name of ['a', 'b', 'c']) await t.put(name);
    t.source.setEnabled(true);
    await t.rest();

    await t.remove('a');
    await t.rest();

    expect(t.batches).toEqual([['a', 'b'], ['c'], ['a']]);
  });

  it('gives the record as the stream has it', async () => {
    const seen: StreamRecord[] = [];
    const t = await setUp({
      answer: (_keys, records) => {
        seen.push(...records);
        return succeeded();
      },
    });
    await t.put('a', { n: { N: '1' } });
    await t.put('a', { n: { N: '2' } });
    await t.rest();

    expect(seen).toMatchObject([
      { eventName: 'INSERT', dynamodb: { NewImage: { n: { N: '1' } } } },
      { eventName: 'MODIFY', dynamodb: { OldImage: { n: { N: '1' } }, NewImage: { n: { N: '2' } } } },
    ]);
  });

  it('passes only what a filter pattern matches', async () => {
    const t = await setUp({
      filters: [
        { eventName: ['INSERT'], dynamodb: { Keys: { PK: { S: [{ prefix: 'ORDER#' }] } } } },
        { dynamodb: { NewImage: { flag: { S: [{ exists: true }] } } } },
        { dynamodb: { NewImage: { kind: { S: [{ 'anything-but': ['x'] }] } } } },
      ],
    });
    await t.put('ORDER#1');
    await t.put('ORDER#1', { n: { N: '2' } });
    await t.put('OTHER#1');
    await t.put('OTHER#2', { flag: { S: 'on' } });
    await t.put('OTHER#3', { kind: { S: 'x' } });
    await t.put('OTHER#4', { kind: { S: 'y' } });
    await t.rest();

    expect(t.batches.flat()).toEqual(['ORDER#1', 'OTHER#2', 'OTHER#4']);
  });

  it('refuses a comparison that it does not know', async () => {
    await expect(
      setUp({ filters: JSON.parse('[{"dynamodb":{"NewImage":{"n":{"N":[{"numeric":[">",1]}]}}}}]') }),
    ).rejects.toThrow(/"numeric".*\$\.dynamodb\.NewImage\.n\.N/);
  });

  it('retries a failed batch, and nothing passes it', async () => {
    let left = 3;
    const t = await setUp({ answer: () => (left-- > 0 ? failed : succeeded()) });
    const start = t.clock.now();
    await t.put('a');
    await t.rest();
    await t.put('b');

    await t.until(() => t.batches.length === 5);

    expect(t.batches).toEqual([['a'], ['a'], ['a'], ['a'], ['b']]);
    expect(t.clock.now() - start).toBe(1_000 + 2_000 + 4_000);
  });

  it('goes on from the first failed record that a partial response names', async () => {
    let calls = 0;
    const t = await setUp({
      reportBatchItemFailures: true,
      answer: (_keys, records) => {
        calls += 1;
        const itemIdentifier = records[1]?.dynamodb.SequenceNumber ?? '';
        return succeeded(calls === 1 ? { batchItemFailures: [{ itemIdentifier }] } : null);
      },
    });
    t.source.setEnabled(false);
    for (const name of ['a', 'b', 'c']) await t.put(name);
    t.source.setEnabled(true);

    await t.until(() => t.batches.length === 2);

    expect(t.batches).toEqual([
      ['a', 'b', 'c'],
      ['b', 'c'],
    ]);
  });

  it('finds the poisonous record by halves, gives it up and reports it', async () => {
    const given: JsonValue[] = [];
    const t = await setUp({
      bisectBatchOnFunctionError: true,
      maximumRetryAttempts: 1,
      onFailure: async (message) => {
        given.push(message);
      },
      answer: (keys) => (keys.includes('bad') ? failed : succeeded()),
    });
    t.source.setEnabled(false);
    for (const name of ['a', 'b', 'bad', 'c']) await t.put(name);
    t.source.setEnabled(true);

    await t.until(() => t.batches.at(-1)?.join() === 'c');

    expect(t.batches).toEqual([['a', 'b', 'bad', 'c'], ['a', 'b'], ['bad', 'c'], ['bad'], ['bad'], ['c']]);
    expect(given).toMatchObject([
      {
        requestContext: { condition: 'RetryAttemptsExhausted', approximateInvokeCount: 2 },
        DDBStreamBatchInfo: { batchSize: 1, streamArn: expect.stringContaining('table/Table/stream') },
      },
    ]);
  });

  it('can deliver a batch twice, and late', async () => {
    const faults: ('twice' | { delayMilliseconds: number })[] = ['twice', { delayMilliseconds: 7_000 }];
    const t = await setUp({ deliver: () => faults.shift() ?? 'none' });
    const start = t.clock.now();
    await t.put('a');
    await t.rest();
    await t.put('b');

    await t.until(() => t.batches.length === 3);

    expect(t.batches).toEqual([['a'], ['a'], ['b']]);
    expect(t.clock.now() - start).toBe(7_000);
  });

  it('stops in the middle of retries, and another one goes on from its position', async () => {
    const t = await setUp({ batchSize: 1, answer: (keys) => (keys.includes('b') ? failed : succeeded()) });
    await t.put('a');
    await t.put('b');
    await t.rest();

    await t.source.stop();
    const again: string[] = [];
    createStreamEventSource({
      clock: t.clock,
      reader: t.reader,
      functionName: 'waker',
      startAfter: t.source.position() ?? '',
      invoke: async ({ Records }) => {
        again.push(...Records.map(key));
        return succeeded();
      },
    });
    await t.rest();

    expect(again).toEqual(['b']);
  });
});
