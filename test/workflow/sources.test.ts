import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../lambdas/core/identity.ts';
import { defineMessage } from '../../lambdas/core/message-type.ts';
import { sources } from '../../lambdas/sources/index.ts';
import { paymentWebhook } from '../../lambdas/sources/payment-webhook.ts';
import { s3NotificationSource } from '../../lambdas/sources/s3-notification.ts';
import { deadlineEnvelope } from '../helpers/envelopes.ts';
import { settledPayment, signatureOf, WEBHOOK_SECRET } from '../helpers/payment-webhook.ts';
import { startWorker } from '../helpers/worker.ts';

const paymentSettled = defineMessage({
  type: 'PaymentSettled',
  schemas: { 1: v.object({ id: v.string(), amount: v.number() }) },
  ordering: 'none',
  plan: ({ payload }) => ({ set: { settled: payload.amount } }),
});

const webhookWorker = (invalidMessages: 'dlq' | 'quarantine' = 'quarantine') =>
  startWorker({
    messages: [paymentSettled],
    sources: [...sources, paymentWebhook({ secrets: [WEBHOOK_SECRET] })],
    invalidMessages,
  });

const webhook = (signature: string, source = 'payments') => ({
  attributes: { webhook: source, 'header.payment-signature': signature },
});

describe('sources', () => {
  it('commits an envelope that came through SNS and EventBridge once', async () => {
    const worker = await startWorker({ sources });
    const envelope = deadlineEnvelope();

    await worker.send({
      Type: 'Notification',
      MessageId: 'n-1',
      TopicArn: 'arn:aws:sns:eu-west-1:111122223333:cases',
      Message: JSON.stringify(envelope),
      Timestamp: '2026-01-01T10:00:00.000Z',
    });
    await worker.send({
      id: 'e-1',
      'detail-type': 'Case',
      source: 'cases',
      account: '111122223333',
      time: '2026-01-01T10:00:00Z',
      region: 'eu-west-1',
      detail: envelope,
    });
    await worker.untilIdle();

    expect(await worker.inbox(envelope.idempotencyKey)).toMatchObject({ status: 'COMPLETED' });
    expect(await worker.aggregate('case', 'CASE-123')).toMatchObject({ revision: 1 });
  });

  it('commits the notification of an object once, and that of its next version as another piece of work', async () => {
    const seen: unknown[] = [];
    const scanArrived = defineMessage({
      type: 'ScanArrived',
      schemas: {
        1: v.object({ bucket: v.string(), key: v.string(), sequencer: v.string(), versionId: v.string() }),
      },
      ordering: 'none',
      plan({ payload }) {
        seen.push(payload.versionId);
        return { set: { key: payload.key } };
      },
    });
    const source = s3NotificationSource({ messageType: 'ScanArrived', bucket: 'scans' });
    const worker = await startWorker({ messages: [scanArrived], sources: [source] });
    const notification = (versionId: string) => ({
      Records: [
        {
          eventSource: 'aws:s3',
          eventName: 'ObjectCreated:Put',
          eventTime: '2026-01-01T10:00:00.000Z',
          s3: {
            bucket: { name: 'scans' },
            object: { key: 'case+1/scan.pdf', versionId, sequencer: `00${versionId}` },
          },
        },
      ],
    });

    await worker.send(notification('1'));
    await worker.send(notification('1'));
    await worker.untilIdle();
    await worker.send(notification('2'));
    await worker.untilIdle();

    expect(seen).toEqual(['1', '2']);
    expect(await worker.executions('SUCCEEDED')).toBe(2);
    const id = sha256(JSON.stringify(['scans', 'case 1/scan.pdf']));
    expect(await worker.aggregate('document', id)).toMatchObject({ key: 'case 1/scan.pdf', revision: 2 });
  });

  it('commits a webhook’s signed event once, however often the provider sends it', async () => {
    const worker = await webhookWorker();
    const body = settledPayment();

    await worker.send(body, webhook(signatureOf(body, worker.clock.now())));
    await worker.send(body, webhook(signatureOf(body, worker.clock.now())));
    await worker.untilIdle();

    expect(await worker.aggregate('payment', 'pay_1')).toMatchObject({ settled: 1200, revision: 1 });
  });

  it('quarantines a forged event and starts nothing', async () => {
    const worker = await webhookWorker();

    await worker.send(settledPayment(), webhook(signatureOf(settledPayment(), worker.clock.now(), 'guess')));
    await worker.untilIdle();

    expect(await worker.executions()).toBe(0);
    expect(await worker.inbox('payment-event:evt_1')).toBeUndefined();
    expect(await worker.depth(worker.names.quarantineQueueUrl)).toBe(1);
  });

  it('sends a forged event to the dead-letter queue, by policy, with the reason', async () => {
    const worker = await webhookWorker('dlq');

    await worker.send(settledPayment(), webhook('t=1,v1=00'));
    await worker.untilIdle();

    const { Messages } = await worker.clients.sqs.send(
      new ReceiveMessageCommand({ QueueUrl: worker.names.dlqUrl, MessageAttributeNames: ['All'] }),
    );
    expect(Messages?.[0]?.MessageAttributes?.FailureReason?.StringValue).toContain('InvalidSignature');
  });

  it.each([
    ['an envelope', deadlineEnvelope()],
    [
      'a notification',
      {
        Type: 'Notification',
        MessageId: 'n',
        TopicArn: 'arn:aws:sns:eu-west-1:111122223333:cases',
        Message: JSON.stringify(deadlineEnvelope()),
        Timestamp: '2026-01-01T10:00:00.000Z',
      },
    ],
  ])('never takes %s that came by a webhook, known or not', async (_what, body) => {
    const worker = await startWorker({
      sources: [...sources, paymentWebhook({ secrets: [WEBHOOK_SECRET] })],
    });

    await worker.send(body, webhook('t=1,v1=00', 'anything'));
    await worker.send(body, webhook('t=1,v1=00'));
    await worker.untilIdle();

    expect(await worker.executions()).toBe(0);
    expect(await worker.depth(worker.names.dlqUrl)).toBe(2);
  });
});
