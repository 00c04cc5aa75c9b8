import * as v from 'valibot';
import { defineMessage } from '../core/message-type.ts';

/**
 * A notice is to be delivered: an effect at a provider that knows no idempotency keys and cannot be asked. When an
 * answer is lost, nobody knows whether the notice went out: the effect is in doubt, and a person has to say.
 */
export const noticeDelivery = defineMessage({
  type: 'NoticeDeliveryRequested',
  schemas: {
    1: v.object({
      caseId: v.string(),
      /** A name in the address book, not an address. */
      recipient: v.string(),
      template: v.string(),
    }),
  },
  ordering: 'none',
  plan({ envelope, payload, effects, now }) {
    const reference = effects.deliver?.reference ?? '';
    return {
      effects: [
        {
          name: 'deliver',
          provider: 'Notices',
          operation: 'deliver',
          request: {
            caseId: payload.caseId,
            recipient: payload.recipient,
            template: payload.template,
          },
        },
      ],
      set: { noticeStatus: 'DELIVERED', noticeReference: reference, deliveredAt: now },
      resultRef: `notice/${envelope.aggregateId}/delivery/${reference}`,
    };
  },
});
