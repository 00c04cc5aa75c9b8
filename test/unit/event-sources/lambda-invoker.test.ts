import { SendMessageCommand } from '@aws-sdk/client-sqs';
import type { Context } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { runUntil, settle } from '../../../local/drive.ts';
import type { FaultInjector } from '../../../local/edge/faults.ts';
import {
  createLambdaInvoker,
  type InvokeOutcome,
  type LambdaFunction,
} from '../../../local/event-sources/lambda-invoker.ts';
import { setUpSqs } from '../../conformance/sqs-setup.ts';

type Handler = (event: unknown, context: Context) => Promise<unknown>;

function setUp(handler: Handler, rest: Partial<LambdaFunction> & { faults?: FaultInjector } = {}) {
  const { faults, ...settings } = rest;
  const sqs = setUpSqs(faults === undefined ? {} : { faults });
  const { clock, newId, activity } = sqs;
  const invoker = createLambdaInvoker({
    clock,
    newId,
    functions: { f: { handler, timeoutSeconds: 3, ...settings } },
  });
  async function invoke(event: unknown = {}): Promise<InvokeOutcome> {
    let outcome: InvokeOutcome | undefined;
    void invoker.invoke('f', event).then((result) => {
      outcome = result;
    });
    await runUntil(() => outcome !== undefined, { clock, inFlight: activity.inFlight });
    if (outcome === undefined) throw new Error('no outcome');
    return outcome;
  }
  return { ...sqs, invoker, invoke };
}

class DomainError extends Error {
  override readonly name = 'DomainError';
}

describe('Lambda invoker', () => {
  it('passes event and result through JSON', async () => {
    const seen: unknown[] = [];
    const t = setUp(async (event) => {
      seen.push(event);
      return { at: new Date(0), gone: undefined };
    });

    const outcome = await t.invoke({ a: 1, gone: undefined });

    expect(seen).toEqual([{ a: 1 }]);
    expect(outcome).toMatchObject({ status: 'succeeded', payload: { at: '1970-01-01T00:00:00.000Z' } });
    expect(outcome).not.toHaveProperty('payload.gone');
  });

  it('takes nothing as null', async () => {
    expect(await setUp(async () => undefined).invoke()).toMatchObject({ payload: null });
  });

  it('gives a context that knows the time left', async () => {
    const left: number[] = [];
    const t = setUp(
      async (_event, context) => {
        left.push(context.getRemainingTimeInMillis());
        await t.clock.sleep(1_000);
        left.push(context.getRemainingTimeInMillis());
        return { ...context, getRemainingTimeInMillis: undefined };
      },
      { memoryMegabytes: 512 },
    );

    const outcome = await t.invoke();

    expect(left).toEqual([3_000, 2_000]);
    expect(outcome).toMatchObject({
      payload: {
        functionName: 'f',
        functionVersion: '$LATEST',
        memoryLimitInMB: '512',
        awsRequestId: outcome.requestId,
        invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:f',
      },
    });
  });

  it('names a thrown error as the Node.js runtime does', async () => {
    const t = setUp(async () => {
      throw new DomainError('nothing to ship');
    });

    expect(await t.invoke()).toMatchObject({
      status: 'failed',
      error: {
        errorType: 'DomainError',
        errorMessage: 'nothing to ship',
        trace: expect.arrayContaining([expect.stringMatching(/nothing to ship/)]),
      },
    });
  });

  it('names what cannot be serialised', async () => {
    expect(await setUp(async () => 1n).invoke()).toMatchObject({
      error: { errorType: 'Runtime.MarshalError' },
    });
  });

  it('refuses a response over 6 MB', async () => {
    const t = setUp(async () => 'x'.repeat(6_291_556));

    expect(await t.invoke()).toMatchObject({ error: { errorType: 'Function.ResponseSizeTooLarge' } });
  });

  it('refuses an event over 6 MB', async () => {
    await expect(setUp(async () => null).invoker.invoke('f', 'x'.repeat(6_291_556))).rejects.toThrow(/bytes/);
  });

  it('ends an invocation whose time is up', async () => {
    const t = setUp(() => t.clock.sleep(60_000));
    const start = t.clock.now();

    const outcome = await t.invoke();

    expect(outcome).toMatchObject({
      status: 'failed',
      error: {
        errorType: 'Sandbox.Timedout',
        errorMessage: `RequestId: ${outcome.requestId} Error: Task timed out after 3.00 seconds`,
      },
    });
    expect(t.clock.now() - start).toBe(3_000);
  });

  it('lets an invocation that timed out do nothing more', async () => {
    const t = setUp(async () => {
      await t.clock.sleep(5_000);
      await t.client.send(new SendMessageCommand({ QueueUrl: url, MessageBody: 'late' }));
    });
    const { url } = await t.createQueue('q');

    await t.invoke();
    t.pass(10);
    await settle(t.activity.inFlight);

    expect(t.store.queue('q').messages()).toEqual([]);
  });

  it.each<[string, 'kill' | { after: 'kill' }, string[]]>([
    ['before', 'kill', []],
    ['after', { after: 'kill' }, ['first']],
  ])('ends an invocation at once that is killed %s a call takes effect', async (_name, fault, sent) => {
    const t = setUp(
      async () => {
        await t.client.send(new SendMessageCommand({ QueueUrl: url, MessageBody: 'first' }));
        await t.client.send(new SendMessageCommand({ QueueUrl: url, MessageBody: 'second' }));
      },
      { faults: ({ operation }) => (operation === 'SendMessage' ? fault : 'none') },
    );
    const { url } = await t.createQueue('q');
    const start = t.clock.now();

    expect(await t.invoke()).toMatchObject({ status: 'failed', error: { errorType: 'Runtime.ExitError' } });
    expect(
      t.store
        .queue('q')
        .messages()
        .map(({ body }) => body),
    ).toEqual(sent);
    expect(t.clock.now()).toBe(start);
  });

  it('throttles what is over the reserved concurrency', async () => {
    const t = setUp(() => t.clock.sleep(1_000), { reservedConcurrency: 1 });
    void t.invoker.invoke('f', {});

    expect(await t.invoker.invoke('f', {})).toMatchObject({ status: 'throttled' });
    expect(t.invoker.running()).toBe(1);
  });

  it('runs a failed asynchronous invocation again after one and after two minutes', async () => {
    const times: number[] = [];
    const t = setUp(async () => {
      times.push(t.clock.now());
      throw new Error('no');
    });
    const start = t.clock.now();

    t.invoker.invokeAsync('f', {});
    await runUntil(() => times.length === 3, { clock: t.clock, inFlight: t.activity.inFlight });
    await settle(t.activity.inFlight);

    expect(times.map((time) => time - start)).toEqual([0, 60_000, 180_000]);
    expect(t.clock.nextTimer()).toBeUndefined();
  });

  it('names the functions that there are when one is missing', async () => {
    await expect(setUp(async () => null).invoker.invoke('g', {})).rejects.toThrow(
      /no function g; known are f/,
    );
  });
});
