import * as v from 'valibot';
import { TerminalFailure } from '../core/errors.ts';
import { derivedKey } from '../core/identity.ts';
import { defineMessage } from '../core/message-type.ts';

/**
 * A payment is to be captured: an effect at a provider that remembers idempotency keys. When an answer is lost, the
 * call is repeated under the same key, and the provider answers as it did the first time.
 */
export const paymentCapture = defineMessage({
  type: 'PaymentCaptureRequested',
  schemas: {
    1: v.object({
      paymentId: v.string(),
      /** In the currency's smallest unit. */
      amount: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
      currency: v.pipe(v.string(), v.regex(/^[A-Z]{3}$/)),
    }),
  },
  ordering: 'none',
  failureCodes: ['PAYMENT_ALREADY_CAPTURED'],
  plan({ envelope, payload, aggregate, effects, now }) {
    if (aggregate?.attributes.paymentStatus === 'CAPTURED') {
      throw new TerminalFailure('PAYMENT_ALREADY_CAPTURED', 'another message has captured this payment');
    }
    const captureId = effects.capture?.reference ?? '';
    return {
      effects: [
        {
          name: 'capture',
          provider: 'Payments',
          operation: 'capture',
          request: { paymentId: payload.paymentId, amount: payload.amount, currency: payload.currency },
        },
      ],
      set: { paymentStatus: 'CAPTURED', captureId, capturedAt: now },
      events: [
        {
          messageType: 'PaymentCaptured',
          idempotencyKey: derivedKey(envelope.idempotencyKey, 'captured'),
          aggregateType: envelope.aggregateType,
          aggregateId: envelope.aggregateId,
          payload: { paymentId: payload.paymentId, captureId },
        },
      ],
      resultRef: `payment/${envelope.aggregateId}/capture/${captureId}`,
    };
  },
});
