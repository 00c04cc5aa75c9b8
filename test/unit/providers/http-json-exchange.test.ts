import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { httpJsonProvider } from '../../../lambdas/providers/http-json.ts';
import { payments } from '../../../lambdas/providers/payments.ts';
import { createVirtualClock } from '../../../local/virtual-clock.ts';
import { answering, call, failureOf, open, operationOf } from './setup.ts';

describe('the answer of an HTTP JSON provider', () => {
  const note = (more: object = {}) =>
    httpJsonProvider({
      name: 'Note',
      maxResponseBytes: 100,
      operations: { put: { path: '/notes', schema: v.unknown(), idempotent: false, ...more } },
    });

  it('may have no body', async () => {
    const server = await answering({ status: 204 });

    const answer = await operationOf(note(), 'put', { NOTE_URL: server.url }).execute(call({}));

    expect(answer).toEqual({});
  });

  it('is read up to its largest size and no further', async () => {
    const server = await answering({ status: 200, body: { text: 'x'.repeat(101) } });

    const failure = await failureOf(operationOf(note(), 'put', { NOTE_URL: server.url }), call({}));

    expect(failure).toMatchObject({ done: 'unknown', code: 'PROVIDER_RESPONSE_INVALID' });
  });

  it('is none when it is not as its schema wants it', async () => {
    const server = await answering({ status: 200, body: { id: 7 } });
    const put = operationOf(note({ response: v.object({ id: v.string() }) }), 'put', {
      NOTE_URL: server.url,
    });

    const failure = await failureOf(put, call({}));

    expect(failure).toMatchObject({ done: 'unknown', code: 'PROVIDER_RESPONSE_INVALID' });
  });

  it('can be read by the operation when it is a refusal', async () => {
    const server = await answering({ status: 402, body: { code: 'CARD_DECLINED' } });
    const put = operationOf(
      note({ refusal: () => ({ done: 'no', forKey: true, kind: 'terminal', code: 'CARD_DECLINED' }) }),
      'put',
      { NOTE_URL: server.url },
    );

    const failure = await failureOf(put, call({}));

    expect(failure).toEqual({ done: 'no', forKey: true, kind: 'terminal', code: 'CARD_DECLINED' });
  });
});

describe('the request of an HTTP JSON provider', () => {
  const files = httpJsonProvider({
    name: 'Files',
    authorization: 'bearer',
    operations: {
      put: {
        method: 'PUT',
        path: ({ id }) => `/files/${id}`,
        body: ({ size }) => ({ size }),
        schema: v.object({ id: v.string(), size: v.bigint() }),
        idempotent: false,
        lookup: {
          path: ({ request }) => `/files/${request.id}`,
          read: ({ status: code }) => (code === 404 ? { found: 'notDone' } : { found: 'unknown' }),
        },
      },
    },
  });
  const secret = async () => 'token-1\n';

  it('goes below the URL, by method and body of the operation, with the secret', async () => {
    const server = await answering({ status: 204 });
    const put = operationOf(files, 'put', { FILES_URL: `${server.url}/v1/` }, { secret });

    await put.execute(call({ id: 'a', size: 12345678901234567890n }));

    expect(server.requests[0]).toMatchObject({
      method: 'PUT',
      path: '/v1/files/a',
      body: '{"size":12345678901234567890}',
      headers: { authorization: 'Bearer token-1' },
    });
  });

  it.each(['../../admin', '..%2f..\\..\\admin/../../..'])(
    'is not sent when its content leads away from the URL (%s)',
    async (id) => {
      const server = await answering({ status: 204 });
      const put = operationOf(files, 'put', { FILES_URL: `${server.url}/v1` }, { secret });

      const failure = await failureOf(put, call({ id, size: 1n }));

      expect(failure).toMatchObject({ done: 'no', kind: 'terminal', code: 'PROVIDER_REQUEST_INVALID' });
      expect(server.requests).toHaveLength(0);
    },
  );

  it('is not sent without the secret', async () => {
    const server = await answering({ status: 204 });
    const put = operationOf(files, 'put', { FILES_URL: server.url });

    const failure = await failureOf(put, call({ id: 'a', size: 1n }));

    expect(failure).toMatchObject({ done: 'no', kind: 'terminal', code: 'PROVIDER_NOT_CONFIGURED' });
    expect(server.requests).toHaveLength(0);
  });

  it('is not sent when the secret can not be read for now', async () => {
    const server = await answering({ status: 204 });
    const throttled = async () => Promise.reject(new Error('throttled'));
    const put = operationOf(files, 'put', { FILES_URL: server.url }, { secret: throttled });

    const failure = await failureOf(put, call({ id: 'a', size: 1n }));

    expect(failure).toMatchObject({ done: 'no', kind: 'retryable', code: 'PROVIDER_SECRET_UNAVAILABLE' });
  });

  it('does not show a secret that no header carries', async () => {
    const server = await answering({ status: 204 });
    const broken = async () => 'tok\nen';
    const put = operationOf(files, 'put', { FILES_URL: server.url }, { secret: broken });

    const failure = await failureOf(put, call({ id: 'a', size: 1n }));

    expect(failure).toMatchObject({ done: 'no', kind: 'terminal', code: 'PROVIDER_REQUEST_INVALID' });
    expect(failure.message).not.toContain('tok');
  });

  it('asks by GET what has become of a call', async () => {
    const server = await answering({ status: 404 });
    const put = operationOf(files, 'put', { FILES_URL: server.url }, { secret });

    const answer = await put.lookup?.(call({ id: 'a', size: 1n }));

    expect(answer).toEqual({ found: 'notDone' });
    expect(server.requests[0]).toMatchObject({ method: 'GET', path: '/files/a', body: '' });
  });
});

describe('the URL of an HTTP JSON provider', () => {
  it.each([
    ['is missing', {}],
    ['is empty', { PAYMENTS_URL: '' }],
    ['is none', { PAYMENTS_URL: 'payments' }],
    ['is not encrypted', { PAYMENTS_URL: 'http://payments.example.org' }],
    ['only looks like loopback', { PAYMENTS_URL: 'http://127.0.0.1.example.org' }],
    ['holds credentials', { PAYMENTS_URL: 'https://user:hunter2@payments.example.org' }],
    ['has a query', { PAYMENTS_URL: 'https://payments.example.org/?key=hunter2' }],
  ])('ends the init when it %s, and the error names the variable alone', (_what, env) => {
    const opening = () => open(payments, env, { clock: createVirtualClock() });

    expect(opening).toThrow(expect.objectContaining({ name: 'ConfigurationError' }));
    expect(opening).toThrow(/^(?!.*hunter2).*PAYMENTS_URL/);
  });

  it.each(['https://payments.example.org/v1', 'http://localhost:1', 'http://[::1]:1'])('may be %s', (url) => {
    expect(open(payments, { PAYMENTS_URL: url })).toHaveProperty('capture');
  });
});
