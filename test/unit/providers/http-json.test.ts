import { describe, expect, it } from 'vitest';
import { notices } from '../../../lambdas/providers/notices.ts';
import { payments } from '../../../lambdas/providers/payments.ts';
import { startNoticeServer } from '../../../local/providers/notice-server.ts';
import { startPaymentServer } from '../../../local/providers/payment-server.ts';
import type { ProviderFault } from '../../../local/providers/provider-server.ts';
import { call, closing, failureOf, operationOf } from './setup.ts';

const PAYMENT = { paymentId: 'P-1', amount: 1250, currency: 'EUR' };
const NOTICE = { caseId: 'CASE-1', recipient: 'person@example.org', template: 'deadline' };

async function paymentSetUp() {
  const server = closing(await startPaymentServer());
  return { server, capture: operationOf(payments, 'capture', { PAYMENTS_URL: server.url }) };
}

async function noticeSetUp() {
  const server = closing(await startNoticeServer());
  return { server, deliver: operationOf(notices, 'deliver', { NOTICES_URL: server.url }) };
}

const status = (
  code: number,
  headers: Readonly<Record<string, string>> = {},
  when: ProviderFault['when'] = 'before',
): ProviderFault => ({ when, how: { status: code, headers } });

describe('an idempotent HTTP JSON operation', () => {
  it('returns the answer and the reference in it', async () => {
    const { server, capture } = await paymentSetUp();

    const answer = await capture.execute(call(PAYMENT));

    expect(answer).toEqual({ reference: 'cap-1', response: { captureId: 'cap-1', ...PAYMENT } });
    expect(server.ledger).toEqual([{ captureId: 'cap-1', key: 'order-1#effect', ...PAYMENT }]);
  });

  it('sends key, trace and correlation as headers, and no connection is kept', async () => {
    const { server, capture } = await paymentSetUp();
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

    await capture.execute(call(PAYMENT, { traceparent, correlationId: 'café' }));

    expect(server.requests[0]?.headers).toMatchObject({
      'idempotency-key': 'order-1#effect',
      traceparent,
      'x-correlation-id': 'caf%C3%A9',
      'content-type': 'application/json',
      connection: 'close',
    });
  });

  it.each([
    ['is too long', 'k'.repeat(300)],
    ['has characters that no header carries', 'bestellung-ä\n1#capture'],
  ])('sends a hash when the key %s, the same each time', async (_what, key) => {
    const { server, capture } = await paymentSetUp();

    await capture.execute(call(PAYMENT, { key }));
    await capture.execute(call(PAYMENT, { key }));

    expect(server.ledger).toHaveLength(1);
    expect(server.ledger[0]?.key).toMatch(/^sha256-[0-9a-f]{64}$/);
  });

  it.each<ProviderFault['how']>(['cut', 'halfway', 'garbage', { status: 500 }])(
    'is carried out once when the provider acts and then fails by %o',
    async (how) => {
      const { server, capture } = await paymentSetUp();
      server.fail({ when: 'after', how });

      const failure = await failureOf(capture, call(PAYMENT));
      const answer = await capture.execute(call(PAYMENT));

      expect(failure.done).toBe('unknown');
      expect(answer.reference).toBe('cap-1');
      expect(server.ledger).toHaveLength(1);
    },
  );

  it('is asked again under the same key while a call under it is under way', async () => {
    const { server, capture } = await paymentSetUp();
    server.fail(status(409, { 'retry-after': '3' }));

    const failure = await failureOf(capture, call(PAYMENT));

    expect(failure).toMatchObject({ done: 'unknown', code: 'HTTP_409', retryAfterSeconds: 3 });
  });

  it('is terminal when the key was used for another request', async () => {
    const { capture } = await paymentSetUp();
    await capture.execute(call(PAYMENT));

    const failure = await failureOf(capture, call({ ...PAYMENT, amount: 1 }));

    expect(failure).toMatchObject({ done: 'no', kind: 'terminal', code: 'HTTP_422' });
  });
});

describe('an HTTP JSON operation without idempotency', () => {
  it('sends no key, and each call is another effect', async () => {
    const { server, deliver } = await noticeSetUp();

    await deliver.execute(call(NOTICE));
    await deliver.execute(call(NOTICE));

    expect(server.requests[0]?.headers).not.toHaveProperty('idempotency-key');
    expect(server.ledger).toHaveLength(2);
  });

  it.each<ProviderFault>([
    { when: 'before', how: 'cut' },
    { when: 'after', how: 'cut' },
    { when: 'after', how: 'halfway' },
    { when: 'after', how: 'garbage' },
    status(500),
    status(503, { 'retry-after': '5' }, 'after'),
    status(303, { location: '/notices/1' }, 'after'),
  ])('is unknown after %o', async (fault) => {
    const { server, deliver } = await noticeSetUp();
    server.fail(fault);

    const failure = await failureOf(deliver, call(NOTICE));

    expect(failure.done).toBe('unknown');
  });

  it('is unknown when no answer came in time, though the provider acted', async () => {
    const { server, deliver } = await noticeSetUp();
    const limit = new AbortController();
    server.fail({ when: 'after', how: 'hold' });

    const failing = failureOf(deliver, call(NOTICE, { signal: limit.signal }));
    await server.held();
    limit.abort(new Error('timed out'));

    expect(await failing).toMatchObject({ done: 'unknown', code: 'PROVIDER_TIMEOUT' });
    expect(server.ledger).toHaveLength(1);
  });

  it.each([408, 425, 429])('is retryable after %i', async (code) => {
    const { server, deliver } = await noticeSetUp();
    server.fail(status(code));

    const failure = await failureOf(deliver, call(NOTICE));

    expect(failure).toMatchObject({ done: 'no', kind: 'retryable', code: `HTTP_${code}` });
    expect(server.ledger).toHaveLength(0);
  });

  it.each([400, 401, 403, 404, 409, 410, 422])('is terminal after %i', async (code) => {
    const { server, deliver } = await noticeSetUp();
    server.fail(status(code));

    const failure = await failureOf(deliver, call(NOTICE));

    expect(failure).toMatchObject({ done: 'no', kind: 'terminal', code: `HTTP_${code}` });
  });

  it.each([
    ['seconds', '120', 120],
    ['an HTTP date', 'Thu, 01 Jan 2026 00:01:30 GMT', 90],
    ['a date that has passed', 'Wed, 31 Dec 2025 23:59:00 GMT', 0],
    ['a year', '31536000', 86_400],
  ])('waits as long as Retry-After says in %s', async (_form, header, seconds) => {
    const { server, deliver } = await noticeSetUp();
    server.fail(status(429, { 'retry-after': header }));

    const failure = await failureOf(deliver, call(NOTICE));

    expect(failure.retryAfterSeconds).toBe(seconds);
  });

  it.each(['soon', '-5', '1.5', ''])('takes no notice of Retry-After: "%s"', async (header) => {
    const { server, deliver } = await noticeSetUp();
    server.fail(status(429, { 'retry-after': header }));

    const failure = await failureOf(deliver, call(NOTICE));

    expect(failure).not.toHaveProperty('retryAfterSeconds');
  });

  it('follows no redirect', async () => {
    const { server, deliver } = await noticeSetUp();
    const elsewhere = closing(await startNoticeServer());
    server.fail(status(307, { location: `${elsewhere.url}/notices` }));

    const failure = await failureOf(deliver, call(NOTICE));

    expect(failure).toMatchObject({ done: 'no', kind: 'terminal', code: 'HTTP_REDIRECT' });
    expect(elsewhere.requests).toHaveLength(0);
  });

  it('is not done when nobody takes the connection', async () => {
    const server = await startNoticeServer();
    await server.close();
    const deliver = operationOf(notices, 'deliver', { NOTICES_URL: server.url });

    const failure = await failureOf(deliver, call(NOTICE));

    expect(failure).toMatchObject({ done: 'no', kind: 'retryable', code: 'PROVIDER_UNREACHABLE' });
  });

  it('is not done when there is no TLS connection', async () => {
    const { server } = await noticeSetUp();
    const deliver = operationOf(notices, 'deliver', { NOTICES_URL: server.url.replace('http:', 'https:') });

    const failure = await failureOf(deliver, call(NOTICE));

    expect(failure).toMatchObject({ done: 'no', kind: 'retryable', code: 'PROVIDER_UNTRUSTED' });
    expect(server.requests).toHaveLength(0);
  });

  it.each<ProviderFault>([
    { when: 'after', how: 'garbage' },
    { when: 'after', how: 'cut' },
    status(400),
    status(500),
    status(429),
  ])('says nothing of the content after %o', async (fault) => {
    const { server, deliver } = await noticeSetUp();
    server.fail(fault);

    const failure = await failureOf(deliver, call(NOTICE));

    expect(failure.message).toMatch(/^Notices deliver: /);
    expect(failure.message).not.toMatch(/person|CASE-1|deadline|asked for/);
  });
});
