import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { runUntil } from '../../../local/drive.ts';
import { inProcessClientConfig } from '../../../local/edge/client-config.ts';
import type { Fault } from '../../../local/edge/faults.ts';
import { jsonResponse } from '../../../local/edge/http.ts';
import { createInProcessRequestHandler } from '../../../local/edge/request-handler.ts';
import { createServiceRouter } from '../../../local/edge/router.ts';
import type { ServiceCall } from '../../../local/edge/service-call.ts';
import { createVirtualClock } from '../../../local/virtual-clock.ts';

/** A client of an SQS that takes everything, under one fault per attempt. */
function setUp(...faults: Fault[]) {
  const clock = createVirtualClock();
  const served: string[] = [];
  const asked: ServiceCall[] = [];
  const sent: ServiceCall[] = [];
  const requestHandler = createInProcessRequestHandler(
    createServiceRouter({
      sqs: async ({ headers }) => {
        served.push(headers['x-amz-target'] ?? '');
        return jsonResponse(200, { MessageId: 'm', MD5OfMessageBody: '0cc175b9c0f1b6a831c399e269772661' });
      },
    }),
    {
      faults: (call) => {
        asked.push(call);
        return faults.shift() ?? 'none';
      },
      onCall: (call) => sent.push(call),
    },
  );
  const client = new SQSClient(inProcessClientConfig({ requestHandler, clock, random: () => 0.5 }));
  async function send() {
    let settled: { readonly value?: unknown; readonly error?: unknown } | undefined;
    void client
      .send(new SendMessageCommand({ QueueUrl: 'http://127.0.0.1/0/q', MessageBody: 'a' }))
      .then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      )
      .then((result) => {
        settled = result;
      });
    await runUntil(() => settled !== undefined, { clock, inFlight: requestHandler.inFlight });
    return settled;
  }
  return { clock, send, served, asked, sent, requestHandler };
}

describe('in-process request handler', () => {
  it('hands a real client’s request to the service and its answer back', async () => {
    const t = setUp();

    expect(await t.send()).toMatchObject({ value: { MessageId: 'm' } });
    expect(t.served).toEqual(['AmazonSQS.SendMessage']);
    expect(t.sent).toEqual([{ service: 'sqs', operation: 'SendMessage', attempt: 1 }]);
    expect(t.requestHandler.inFlight()).toBe(0);
  });

  it.each<[string, Fault, number]>([
    ['a time-out before the effect', { before: 'timeout' }, 1],
    ['a time-out after the effect', { after: 'timeout' }, 2],
    ['a reset after the effect', { after: 'connection-reset' }, 2],
    ['a 503 before the effect', { before: 503 }, 1],
    ['a 500 after the effect', { after: 500 }, 2],
    ['throttling', { before: { status: 400, code: 'ThrottlingException' } }, 1],
  ])('lets the client retry after %s', async (_name, fault, effects) => {
    const t = setUp(fault);
    const start = t.clock.now();

    expect(await t.send()).toMatchObject({ value: { MessageId: 'm', $metadata: { attempts: 2 } } });
    expect(t.served).toHaveLength(effects);
    expect(t.asked.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(t.clock.now()).toBeGreaterThan(start);
  });

  it('gives up after the last attempt with the error of the service', async () => {
    const t = setUp({ before: 503 }, { before: 503 }, { before: 503 });

    expect(await t.send()).toMatchObject({
      error: { name: 'ServiceUnavailable', $metadata: { httpStatusCode: 503, attempts: 3 } },
    });
    expect(t.served).toEqual([]);
  });

  it('does not let the client retry a refusal', async () => {
    const t = setUp({ before: { status: 403, code: 'AccessDeniedException', message: 'not you' } });

    expect(await t.send()).toMatchObject({ error: { name: 'AccessDeniedException', message: 'not you' } });
    expect(t.asked).toHaveLength(1);
  });

  it.each<[string, Fault, number]>([
    ['before', 'kill', 0],
    ['after', { after: 'kill' }, 1],
  ])('never answers a call whose process dies %s the effect', async (_name, fault, effects) => {
    const t = setUp(fault);

    await expect(t.send()).rejects.toThrow(/nothing is left to happen/);
    expect(t.served).toHaveLength(effects);
    expect(t.requestHandler.inFlight()).toBe(0);
  });
});
