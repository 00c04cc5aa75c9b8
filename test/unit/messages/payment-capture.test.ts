import { describe, expect, it } from 'vitest';
import { paymentCapture } from '../../../lambdas/messages/payment-capture.ts';
import { testPlan } from '../../../local/testing/index.ts';

const payload = { paymentId: 'P-1', amount: 1250, currency: 'EUR' };
const envelope = { aggregateType: 'payment', aggregateId: 'P-1', idempotencyKey: 'payment:P-1:capture' };

describe('PaymentCaptureRequested', () => {
  it('asks the provider to capture exactly what the message says', async () => {
    const plan = await testPlan(paymentCapture, { payload, envelope });

    expect(plan.effects).toEqual([
      { name: 'capture', provider: 'Payments', operation: 'capture', request: payload },
    ]);
  });

  it("keeps the provider's reference and tells the others", async () => {
    const plan = await testPlan(paymentCapture, {
      payload,
      envelope,
      effects: { capture: { reference: 'cap-7' } },
    });

    expect(plan.set).toMatchObject({ paymentStatus: 'CAPTURED', captureId: 'cap-7' });
    expect(plan.events).toMatchObject([
      { messageType: 'PaymentCaptured', payload: { paymentId: 'P-1', captureId: 'cap-7' } },
    ]);
    expect(plan.resultRef).toBe('payment/P-1/capture/cap-7');
  });

  it('refuses a payment that another message has captured, before the provider is asked', async () => {
    const aggregate = { paymentStatus: 'CAPTURED', captureId: 'cap-7' };

    await expect(testPlan(paymentCapture, { payload, envelope, aggregate })).rejects.toThrow(
      expect.objectContaining({ code: 'PAYMENT_ALREADY_CAPTURED' }),
    );
  });

  it.each([
    ['a fraction of the smallest unit', { amount: 12.5 }],
    ['nothing', { amount: 0 }],
    ['a currency in words', { currency: 'euro' }],
  ])('refuses %s', async (_, fault) => {
    await expect(testPlan(paymentCapture, { payload: { ...payload, ...fault }, envelope })).rejects.toThrow(
      expect.objectContaining({ code: 'INVALID_PAYLOAD' }),
    );
  });
});
