import {
  GetEventSourceMappingCommand,
  InvokeCommand,
  LambdaClient,
  ListEventSourceMappingsCommand,
  type ListEventSourceMappingsCommandInput,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { runUntil, settle } from '../../../local/drive.ts';
import { inProcessClientConfig } from '../../../local/edge/client-config.ts';
import { createInProcessRequestHandler } from '../../../local/edge/request-handler.ts';
import { createLambdaDispatch } from '../../../local/event-sources/lambda-api.ts';
import { createLambdaInvoker } from '../../../local/event-sources/lambda-invoker.ts';
import { createSqsEventSource } from '../../../local/event-sources/sqs-event-source.ts';
import { setUpSqs } from '../../conformance/sqs-setup.ts';

async function setUp() {
  const sqs = setUpSqs();
  const { clock, activity, newId, store } = sqs;
  const queue = await sqs.createQueue('q');
  const events: unknown[] = [];
  const handler = async (event: { readonly fail?: boolean }) => {
    events.push(event);
    if (event.fail === true) throw new TypeError('told to');
    return null;
  };
  const invoker = createLambdaInvoker({
    clock,
    newId,
    functions: { starter: { handler, timeoutSeconds: 3 } },
  });
  const source = createSqsEventSource({
    clock,
    client: sqs.client,
    uuid: 'a-uuid',
    queueUrl: queue.url,
    queueArn: queue.arn,
    functionName: 'starter',
    invoke: (event) => invoker.invoke('starter', event),
    signals: store.signals('q'),
  });
  const requestHandler = createInProcessRequestHandler(
    createLambdaDispatch({ clock, mappings: () => [source], invoker }),
    { activity },
  );
  const lambda = new LambdaClient(inProcessClientConfig({ requestHandler, clock, random: () => 0.5 }));
  return { ...sqs, queue, lambda, events, rest: () => settle(activity.inFlight) };
}

describe('Lambda API', () => {
  it('pauses and resumes an event source mapping', async () => {
    const t = await setUp();
    const update = (Enabled: boolean) =>
      t.lambda.send(new UpdateEventSourceMappingCommand({ UUID: 'a-uuid', Enabled }));
    const get = () => t.lambda.send(new GetEventSourceMappingCommand({ UUID: 'a-uuid' }));

    expect(await update(false)).toMatchObject({ UUID: 'a-uuid', State: 'Disabling' });
    expect(await get()).toMatchObject({ State: 'Disabled', EventSourceArn: t.queue.arn, BatchSize: 10 });
    await t.client.send(new SendMessageCommand({ QueueUrl: t.queue.url, MessageBody: 'a' }));
    await t.rest();
    expect(t.events).toEqual([]);

    expect(await update(true)).toMatchObject({ State: 'Enabling' });
    await runUntil(() => t.events.length === 1, { clock: t.clock, inFlight: t.activity.inFlight });
    expect(await get()).toMatchObject({ State: 'Enabled', LastModified: new Date(t.clock.now()) });
  });

  it('sets the maximum concurrency', async () => {
    const t = await setUp();
    const update = (MaximumConcurrency: number) =>
      t.lambda.send(
        new UpdateEventSourceMappingCommand({ UUID: 'a-uuid', ScalingConfig: { MaximumConcurrency } }),
      );

    expect(await update(7)).toMatchObject({ ScalingConfig: { MaximumConcurrency: 7 } });
    await expect(update(1)).rejects.toMatchObject({ name: 'InvalidParameterValueException' });
  });

  it('lists the mappings of a source and of a function', async () => {
    const t = await setUp();
    const list = async (input: ListEventSourceMappingsCommandInput) =>
      (await t.lambda.send(new ListEventSourceMappingsCommand(input))).EventSourceMappings?.map(
        ({ UUID }) => UUID,
      );

    expect(await list({ EventSourceArn: t.queue.arn })).toEqual(['a-uuid']);
    expect(await list({ FunctionName: 'starter' })).toEqual(['a-uuid']);
    expect(await list({ EventSourceArn: `${t.queue.arn}x` })).toEqual([]);
  });

  it('does not know a mapping that is not there', async () => {
    const t = await setUp();

    await expect(t.lambda.send(new GetEventSourceMappingCommand({ UUID: 'b' }))).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
  });

  it('invokes functions', async () => {
    const t = await setUp();
    const invoke = (payload: object, InvocationType: 'Event' | 'RequestResponse' = 'RequestResponse') =>
      t.lambda.send(
        new InvokeCommand({
          FunctionName: 'starter',
          InvocationType,
          Payload: Buffer.from(JSON.stringify(payload)),
        }),
      );

    const good = await invoke({ n: 1 });
    const bad = await invoke({ fail: true });
    const later = await invoke({ n: 2 }, 'Event');
    await t.rest();

    expect(good).toMatchObject({ StatusCode: 200, ExecutedVersion: '$LATEST' });
    expect(good.Payload?.transformToString()).toBe('null');
    expect(bad.FunctionError).toBe('Unhandled');
    expect(JSON.parse(bad.Payload?.transformToString() ?? '')).toMatchObject({ errorType: 'TypeError' });
    expect(later.StatusCode).toBe(202);
    expect(t.events).toEqual([{ n: 1 }, { fail: true }, { n: 2 }]);
  });
});
