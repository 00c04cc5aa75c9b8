import * as v from 'valibot';
import { httpJsonProvider } from './http-json.ts';

/** Captures payments. The provider remembers idempotency keys: a repeated call is answered as the first was. */
export const payments = httpJsonProvider({
  name: 'Payments',
  operations: {
    capture: {
      path: '/captures',
      idempotent: true,
      schema: v.object({
        paymentId: v.string(),
        /** In the currency's smallest unit. */
        amount: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
        currency: v.pipe(v.string(), v.regex(/^[A-Z]{3}$/)),
      }),
      response: v.looseObject({ captureId: v.string() }),
      reference: 'captureId',
    },
  },
});

/** What its function carries. */
export const providers = [payments];
