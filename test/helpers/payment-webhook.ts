import { createHmac } from 'node:crypto';

export const WEBHOOK_SECRET = 'whsec_test';

export const settledPayment = (id = 'evt_1', amount = 1200) =>
  JSON.stringify({
    id,
    type: 'payment.settled',
    createdAt: '2026-01-01T00:00:00Z',
    payment: { id: 'pay_1', amount },
  });

/** The signature header of a body, as the provider makes it. */
export function signatureOf(body: string, atMillis: number, secret = WEBHOOK_SECRET): string {
  const time = Math.floor(atMillis / 1000);
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`;
}
