import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { describe, expect, it, onTestFinished } from 'vitest';
import { defineMessage } from '../../lambdas/core/message-type.ts';
import { sources } from '../../lambdas/sources/index.ts';
import { paymentWebhook } from '../../lambdas/sources/payment-webhook.ts';
import { listenOnLoopback } from '../../local/edge/http-server.ts';
import { createIngress } from '../../local/ingress/ingress.ts';
import type { LocalRuntimeOptions } from '../../local/runtime.ts';
import { deadlineEnvelope } from '../helpers/envelopes.ts';
import { ingressTemplate } from '../helpers/ingress-template.ts';
import { settledPayment, signatureOf, WEBHOOK_SECRET } from '../helpers/payment-webhook.ts';
import { startWorker } from '../helpers/worker.ts';

const paymentSettled = defineMessage({
  type: 'PaymentSettled',
  schemas: { 1: v.object({ id: v.string(), amount: v.number() }) },
  ordering: 'none',
  plan: ({ payload }) => ({ set: { settled: payload.amount } }),
});

type Worker = Awaited<ReturnType<typeof startWorker>>;
type IngressTemplate = Parameters<typeof createIngress>[0]['template'];

/** The ingress of a template in front of a worker. */
const ingressOf = (template: IngressTemplate, { clock, clients, names }: Worker) =>
  createIngress({ template, clock, sqs: clients.sqs, queueUrl: names.queueUrl });

/** The ingress's answer to an envelope. */
const postTo = (template: IngressTemplate, worker: Worker, envelope: object) =>
  ingressOf(
    template,
    worker,
  )({
    method: 'POST',
    path: '/messages',
    query: new URLSearchParams(),
    headers: {},
    body: Buffer.from(JSON.stringify(envelope)),
  });

/** A worker with the ingress in front of it, over HTTP. */
async function startIngress(options: Partial<Omit<LocalRuntimeOptions, 'clock'>> = {}) {
  const worker = await startWorker(options);
  const template = ingressTemplate(
    { webhooks: { payments: { headers: ['Payment-Signature'] } } },
    { fifo: options.fifo ?? false },
  );
  const server = await listenOnLoopback(ingressOf(template.toJSON(), worker));
  onTestFinished(() => server.close());
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
  };
  return { worker, post };
}

describe('POST /messages', () => {
  it('answers 202 with the message id, and the worker does the work', async () => {
    const { worker, post } = await startIngress();
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

    const answer = await post('/messages', deadlineEnvelope({ tenantId: 'ana' }), { traceparent });
    await worker.untilIdle();

    expect(answer).toMatchObject({
      status: 202,
      body: { messageId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    });
    expect(await worker.inbox('case:CASE-123:deadline:v4')).toMatchObject({
      status: 'COMPLETED',
      tenantId: 'ana',
    });
  });

  it('makes the aggregate the message group of a FIFO queue', async () => {
    const { worker, post } = await startIngress({ fifo: true });

    expect((await post('/messages', deadlineEnvelope())).status).toBe(202);
    await worker.untilIdle();

    expect(await worker.inbox('case:CASE-123:deadline:v4')).toMatchObject({ status: 'COMPLETED' });
  });

  it.each([
    ['the tenant', { tenantId: 'ana' }, 'ana'],
    ['nothing without a tenant', {}, undefined],
  ])('makes %s the message group of a standard queue', async (_what, fields, group) => {
    const worker = await startWorker();
    // A queue that no worker reads.
    const queueUrl = worker.names.dlqUrl;
    const ingress = createIngress({
      template: ingressTemplate().toJSON(),
      clock: worker.clock,
      sqs: worker.clients.sqs,
      queueUrl,
    });

    await ingress({
      method: 'POST',
      path: '/messages',
      query: new URLSearchParams(),
      headers: {},
      body: Buffer.from(JSON.stringify(deadlineEnvelope(fields))),
    });

    const { Messages } = await worker.clients.sqs.send(
      new ReceiveMessageCommand({ QueueUrl: queueUrl, MessageSystemAttributeNames: ['All'] }),
    );
    expect(Messages?.[0]?.Attributes?.MessageGroupId).toBe(group);
  });

  it.each([
    ['what is no JSON', '{bad secret', 'it must be a JSON object'],
    ['a list', ['secret'], 'it must be a JSON object'],
    ['an unknown field', deadlineEnvelope({ extra: 'secret' }), '$.extra: is not a field of the envelope'],
    [
      'texts that break rules',
      deadlineEnvelope({ messageType: 'secret value', correlationId: 'secret \n' }),
      '$.messageType: must match [A-Za-z][A-Za-z0-9]{0,99}; $.correlationId: must hold no control characters',
    ],
  ])('refuses %s with 400, path and rule, and none of its values', async (_what, body, faults) => {
    const { worker, post } = await startIngress();

    const answer = await post('/messages', body);

    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'INVALID_ENVELOPE', message: `The body is no envelope: ${faults}` },
    });
    expect(JSON.stringify([answer.body, ...answer.headers])).not.toMatch(/secret/);
    expect(await worker.depth(worker.names.queueUrl)).toBe(0);
  });

  it('says what an envelope is should the faults not reach the answer', async () => {
    const worker = await startWorker();
    const text = ingressTemplate().toJSON();
    const apart = JSON.parse(
      JSON.stringify(text).replace('#set($broken = $context.requestOverride.header.faults)', ''),
    );

    const answer = await postTo(apart, worker, deadlineEnvelope({ messageId: 1 }));

    expect(answer).toMatchObject({ status: 400, body: expect.stringContaining('required are messageId') });
  });

  it('refuses another content type with 415', async () => {
    const { post } = await startIngress();

    const answer = await post('/messages', deadlineEnvelope(), { 'content-type': 'text/plain' });

    expect(answer).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } });
  });

  it('refuses a message over 1 MiB with 413', async () => {
    const { worker, post } = await startIngress();

    const answer = await post('/messages', deadlineEnvelope({ payload: { text: 'x'.repeat(1_048_576) } }));

    expect(answer).toMatchObject({ status: 413, body: { code: 'MESSAGE_TOO_LARGE' } });
    expect(await worker.depth(worker.names.queueUrl)).toBe(0);
  });

  it('takes a message of 900 KB, which is then carried by reference', async () => {
    const { worker, post } = await startIngress();
    const payload = { ...deadlineEnvelope().payload, text: 'é'.repeat(450_000) };

    expect((await post('/messages', deadlineEnvelope({ payload }))).status).toBe(202);
    await worker.untilIdle();

    expect(await worker.inbox('case:CASE-123:deadline:v4')).toMatchObject({ status: 'COMPLETED' });
  });

  it('answers 503 with Retry-After when the queue fails', async () => {
    const worker = await startWorker();
    worker.clients.sqs.middlewareStack.add(
      () => async () => {
        throw new Error('not reached');
      },
      { step: 'build', name: 'unreachable' },
    );

    const answer = await postTo(ingressTemplate().toJSON(), worker, deadlineEnvelope());
    worker.clients.sqs.middlewareStack.remove('unreachable');

    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
  });
});

describe('POST /webhooks/{source}', () => {
  const options = {
    messages: [paymentSettled],
    sources: [...sources, paymentWebhook({ secrets: [WEBHOOK_SECRET] })],
    invalidMessages: 'quarantine' as const,
  };

  it('answers 202, and commits what the provider signed', async () => {
    const { worker, post } = await startIngress(options);
    const body = settledPayment();

    const answer = await post('/webhooks/payments', body, {
      'Payment-Signature': signatureOf(body, worker.clock.now()),
    });
    await worker.untilIdle();

    expect(answer.status).toBe(202);
    expect(await worker.aggregate('payment', 'pay_1')).toMatchObject({ settled: 1200 });
  });

  it.each([
    ['forged', { 'Payment-Signature': 't=1,v1=00' }],
    ['unsigned', {}],
  ])('quarantines a request that is %s, and commits nothing', async (_what, headers) => {
    const { worker, post } = await startIngress(options);

    const answer = await post('/webhooks/payments', settledPayment(), headers);
    await worker.untilIdle();

    expect(answer.status).toBe(202);
    expect(await worker.executions()).toBe(0);
    const { Messages } = await worker.clients.sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: worker.names.quarantineQueueUrl,
        MessageAttributeNames: ['All'],
      }),
    );
    expect(Messages?.[0]?.MessageAttributes?.FailureReason?.StringValue).toContain('InvalidSignature');
  });

  it.each([
    ['no body', '', 'text/plain', 400, 'MESSAGE_REFUSED', /^The body is empty/],
    ['a content type of no text', 'x', 'image/png', 415, 'UNSUPPORTED_MEDIA_TYPE', /webhook.*text\/plain/],
  ])('refuses %s, and speaks of no envelope', async (_what, body, type, status, code, message) => {
    const { post } = await startIngress(options);

    const answer = await post('/webhooks/payments', body, { 'content-type': type });

    expect(answer).toMatchObject({ status, body: { code, message: expect.stringMatching(message) } });
    expect(answer.body.message).not.toContain('is no envelope');
  });

  it('knows no other webhook', async () => {
    const { post } = await startIngress(options);

    expect((await post('/webhooks/unknown', settledPayment())).status).toBe(403);
  });
});
