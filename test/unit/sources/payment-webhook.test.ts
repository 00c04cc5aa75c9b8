import { describe, expect, it } from 'vitest';
import { hmacSignature } from '../../../lambdas/sources/hmac-signature.ts';
import { paymentWebhook } from '../../../lambdas/sources/payment-webhook.ts';
import { settledPayment, signatureOf, WEBHOOK_SECRET } from '../../helpers/payment-webhook.ts';

const AT = Date.UTC(2026, 0, 1);
const source = paymentWebhook({ secrets: [WEBHOOK_SECRET, 'whsec_next'] });

function take(body: string, signature: string | undefined, attributes: Record<string, string> = {}) {
  return source.toEnvelope({
    messageId: 'm',
    body,
    sentAt: AT,
    attributes: {
      webhook: 'payments',
      ...(signature === undefined ? {} : { 'header.Payment-Signature': signature }),
      ...attributes,
    },
  });
}

describe('paymentWebhook', () => {
  it('turns a signed event into an envelope under the event’s id', () => {
    expect(take(settledPayment(), signatureOf(settledPayment(), AT))).toMatchObject({
      messageType: 'PaymentSettled',
      idempotencyKey: 'payment-event:evt_1',
      payload: { id: 'pay_1', amount: 1200 },
    });
  });

  it('takes a signature by any of the secrets', () => {
    const signature = signatureOf(settledPayment(), AT, 'whsec_next');

    expect(take(settledPayment(), signature)).toMatchObject({ messageId: 'evt_1' });
  });

  it.each([
    ['is missing', undefined],
    ['is by another secret', signatureOf(settledPayment(), AT, 'guess')],
    ['is of another body', signatureOf(settledPayment('evt_2'), AT)],
    ['has no time', signatureOf(settledPayment(), AT).replace(/^t=\d+,/, '')],
    ['is cut short', signatureOf(settledPayment(), AT).slice(0, -2)],
    ['is no hexadecimal text', `t=${AT / 1000},v1=zz`],
  ])('refuses a request whose signature %s', (_what, signature) => {
    expect(() => take(settledPayment(), signature)).toThrow(
      expect.objectContaining({ name: 'InvalidSignature' }),
    );
  });

  it('refuses a request that was recorded and is sent later', () => {
    const signature = signatureOf(settledPayment(), AT - 301_000);

    expect(() => take(settledPayment(), signature)).toThrow(/time/);
  });

  it('takes a fresh request that the queue has held for a day', () => {
    const signature = signatureOf(settledPayment(), AT - 86_400_000);

    expect(take(settledPayment(), signature, { receivedAt: String(AT - 86_400_000) })).toBeDefined();
  });

  it('refuses a signed event of a kind that is not taken', () => {
    const body = JSON.stringify({ id: 'evt_3', type: 'payment.created' });

    expect(() => take(body, signatureOf(body, AT))).toThrow(/not taken/);
  });
});

describe('hmacSignature', () => {
  it.each([[[]], [['']]])('refuses secrets %j', (secrets) => {
    expect(() => hmacSignature({ header: 'X-Signature', secrets })).toThrow(/secret/);
  });
});
