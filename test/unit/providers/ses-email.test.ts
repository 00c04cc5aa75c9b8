import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { email } from '../../../lambdas/providers/email.ts';
import { sesEmailProvider } from '../../../lambdas/providers/ses-email.ts';
import type { ProviderFault } from '../../../local/providers/provider-server.ts';
import { type SesServer, startSesServer } from '../../../local/providers/ses-server.ts';
import { awsEnv, call, failureOf, open, operationOf } from './setup.ts';

const EMAIL = {
  from: 'office@example.org',
  to: ['person@example.org'],
  subject: 'Größe',
  text: 'Your deadline is near.',
};

const servers: SesServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function setUp() {
  const server = await startSesServer();
  servers.push(server);
  const env = awsEnv({ AWS_ENDPOINT_URL_SESV2: server.url });
  return { server, env, send: operationOf(email, 'send', env) };
}

const refusal = (status: number, code: string, headers = {}): ProviderFault => ({
  when: 'before',
  how: { status, code, headers },
});

describe('the SES provider', () => {
  it('sends the e-mail, tagged with its effect, and returns the message id', async () => {
    const { server, send } = await setUp();

    const answer = await send.execute(call({ ...EMAIL, cc: ['copy@example.org'], html: '<p>near</p>' }));

    expect(answer).toEqual({ reference: 'email-1' });
    expect(server.ledger).toEqual([
      {
        messageId: 'email-1',
        request: {
          FromEmailAddress: 'office@example.org',
          Destination: { ToAddresses: ['person@example.org'], CcAddresses: ['copy@example.org'] },
          Content: {
            Simple: {
              Subject: { Data: 'Größe', Charset: 'UTF-8' },
              Body: {
                Text: { Data: 'Your deadline is near.', Charset: 'UTF-8' },
                Html: { Data: '<p>near</p>', Charset: 'UTF-8' },
              },
            },
          },
          EmailTags: [{ Name: 'effect', Value: createHash('sha256').update('order-1#effect').digest('hex') }],
        },
      },
    ]);
  });

  it('names its configuration set', async () => {
    const { server, env } = await setUp();
    const provider = sesEmailProvider({ name: 'Email', configurationSet: 'events' });

    await operationOf(provider, 'send', env).execute(call(EMAIL));

    expect(server.ledger[0]?.request.ConfigurationSetName).toBe('events');
  });

  it.each([
    [429, 'TooManyRequestsException'],
    [400, 'ThrottlingException'],
    [400, 'LimitExceededException'],
    [403, 'ExpiredTokenException'],
  ])('is retryable after %i %s', async (status, code) => {
    const { server, send } = await setUp();
    server.fail(refusal(status, code, { 'retry-after': '7' }));

    const failure = await failureOf(send, call(EMAIL));

    expect(failure).toMatchObject({ done: 'no', kind: 'retryable', code, retryAfterSeconds: 7 });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [400, 'MessageRejected'],
    [400, 'MailFromDomainNotVerifiedException'],
    [400, 'AccountSuspendedException'],
    [400, 'BadRequestException'],
    [403, 'AccessDeniedException'],
  ])('is terminal after %i %s', async (status, code) => {
    const { server, send } = await setUp();
    server.fail(refusal(status, code));

    const failure = await failureOf(send, call(EMAIL));

    expect(failure).toMatchObject({ done: 'no', kind: 'terminal', code });
  });

  it.each<ProviderFault>([
    refusal(500, 'InternalServiceErrorException'),
    refusal(503, 'ServiceUnavailable'),
    { when: 'after', how: 'cut' },
    { when: 'after', how: 'halfway' },
    { when: 'after', how: 'garbage' },
  ])('is unknown after %o, and calls once', async (fault) => {
    const { server, send } = await setUp();
    server.fail(fault);

    const failure = await failureOf(send, call(EMAIL));

    expect(failure.done).toBe('unknown');
    expect(failure.message).toMatch(/^Email send: /);
    expect(failure.message).not.toMatch(/@|near|asked for/);
    expect(server.requests).toHaveLength(1);
  });

  it('is unknown when no answer came in time, though the e-mail was sent', async () => {
    const { server, send } = await setUp();
    const limit = new AbortController();
    server.fail({ when: 'after', how: 'hold' });

    const failing = failureOf(send, call(EMAIL, { signal: limit.signal }));
    await server.held();
    limit.abort(new Error('timed out'));

    expect(await failing).toMatchObject({ done: 'unknown', code: 'PROVIDER_TIMEOUT' });
    expect(server.ledger).toHaveLength(1);
  });

  it('is not done when nobody takes the connection', async () => {
    const { server, send } = await setUp();
    servers.splice(0);
    await server.close();

    const failure = await failureOf(send, call(EMAIL));

    expect(failure).toMatchObject({ done: 'no', kind: 'retryable', code: 'PROVIDER_UNREACHABLE' });
  });

  it.each([
    ['no text and no html', { text: undefined }],
    ['no recipient', { to: [] }],
    [
      'more recipients than SES takes',
      { to: Array(26).fill('a@example.org'), bcc: Array(25).fill('b@b.org') },
    ],
  ])('takes no request with %s', async (_what, change) => {
    const { send } = await setUp();
    const { text, ...rest } = { ...EMAIL, ...change };

    const result = await send.schema['~standard'].validate(text === undefined ? rest : { ...rest, text });

    expect(result.issues).toHaveLength(1);
  });

  it('ends the init when its endpoint is neither encrypted nor on loopback', () => {
    const opening = () => open(email, awsEnv({ AWS_ENDPOINT_URL_SESV2: 'http://ses.example.org' }));

    expect(opening).toThrow(/AWS_ENDPOINT_URL_SESV2/);
  });
});
