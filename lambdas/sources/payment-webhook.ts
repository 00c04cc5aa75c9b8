import type { Source } from '../core/sources.ts';
import { hmacSignature } from './hmac-signature.ts';
import { asObject, objectOf, textIn } from './json-body.ts';
import { webhookSource } from './webhook.ts';

export interface PaymentWebhookOptions {
  /** The provider's signing secrets. */
  readonly secrets: readonly string[];
  /** Message type of a settled payment. @default 'PaymentSettled' */
  readonly messageType?: string;
}

/**
 * Example of a webhook: a payment provider tells, in signed requests to `/webhooks/payments`, that a payment was
 * settled. The provider's event id is the idempotency key, so that its own repetitions are one piece of work.
 */
export function paymentWebhook(options: PaymentWebhookOptions): Source {
  const { secrets, messageType = 'PaymentSettled' } = options;
  return webhookSource({
    name: 'payments',
    verify: hmacSignature({ header: 'Payment-Signature', secrets }),
    toEnvelope({ body }) {
      const event = objectOf(body);
      if (event?.type !== 'payment.settled') return undefined;
      const payment = asObject(event.payment) ?? {};
      const id = textIn(event, 'id');
      return {
        messageId: id,
        schemaVersion: 1,
        messageType,
        producer: 'payment-provider',
        occurredAt: textIn(event, 'createdAt'),
        idempotencyKey: `payment-event:${id}`,
        aggregateType: 'PAYMENT',
        aggregateId: textIn(payment, 'id'),
        payload: payment,
      };
    },
  });
}
