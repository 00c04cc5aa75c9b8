import { describe, expect, it } from 'vitest';
import { type WebhookVerifier, webhookSource } from '../../../lambdas/sources/webhook.ts';

const take = (verify: WebhookVerifier) =>
  webhookSource({ name: 'payments', verify, toEnvelope: ({ body }) => ({ body }) }).toEnvelope({
    messageId: 'm',
    body: 'forged',
    attributes: { webhook: 'payments' },
    sentAt: 0,
  });

describe('webhookSource', () => {
  it('takes a request that its verifier lets pass', () => {
    expect(take(() => {})).toEqual({ body: 'forged' });
  });

  it.each<[what: string, verify: WebhookVerifier]>([
    ['waits for something', async () => {}],
    ['would refuse later', () => Promise.reject(new Error('forged'))],
    ['says false and throws nothing', () => false],
    ['says true', () => true],
  ])('refuses every request when its verifier %s', async (_what, verify) => {
    expect(() => take(verify)).toThrow(/verify must refuse by throwing/);
    // A promise that is rejected and that nobody holds would end the process.
    await new Promise(setImmediate);
  });
});
