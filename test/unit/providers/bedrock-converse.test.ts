import { afterEach, describe, expect, it } from 'vitest';
import { model } from '../../../lambdas/providers/model.ts';
import { type BedrockServer, startBedrockServer } from '../../../local/providers/bedrock-server.ts';
import type { ProviderFault } from '../../../local/providers/provider-server.ts';
import { awsEnv, call, failureOf, operationOf } from './setup.ts';

const MODEL = 'anthropic.model-v1:0';
const QUESTION = {
  modelId: MODEL,
  system: 'Be brief.',
  messages: [{ role: 'user', text: 'when is it due' }],
  maxTokens: 100,
  temperature: 0,
};

const servers: BedrockServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function setUp() {
  const server = await startBedrockServer();
  servers.push(server);
  const env = awsEnv({ AWS_ENDPOINT_URL_BEDROCK_RUNTIME: server.url });
  return { server, converse: operationOf(model, 'converse', env) };
}

const refusal = (status: number, code: string, headers = {}): ProviderFault => ({
  when: 'before',
  how: { status, code, headers },
});

describe('the Bedrock provider', () => {
  it('asks the model, and returns its text, why it stopped and what it used', async () => {
    const { server, converse } = await setUp();

    const answer = await converse.execute(call(QUESTION));

    expect(answer).toEqual({
      reference: 'request-1',
      response: {
        text: 'You said: when is it due',
        stopReason: 'end_turn',
        usage: { inputTokens: 4, outputTokens: 6 },
      },
    });
    expect(server.ledger).toEqual([
      {
        modelId: MODEL,
        request: {
          system: [{ text: 'Be brief.' }],
          messages: [{ role: 'user', content: [{ text: 'when is it due' }] }],
          inferenceConfig: { maxTokens: 100, temperature: 0 },
        },
      },
    ]);
  });

  it('is harmless: a call that gave no answer may be repeated', async () => {
    const { converse } = await setUp();

    expect(converse).toMatchObject({ harmless: true, idempotent: false });
  });

  it.each([
    [429, 'ThrottlingException'],
    [408, 'ModelTimeoutException'],
    [424, 'ModelErrorException'],
    [429, 'ModelNotReadyException'],
    [503, 'ServiceUnavailableException'],
    [500, 'InternalServerException'],
    [400, 'ServiceQuotaExceededException'],
  ])('is retryable after %i %s', async (status, code) => {
    const { server, converse } = await setUp();
    server.fail(refusal(status, code, { 'retry-after': '7' }));

    const failure = await failureOf(converse, call(QUESTION));

    expect(failure).toMatchObject({ done: 'no', kind: 'retryable', code, retryAfterSeconds: 7 });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [400, 'ValidationException'],
    [403, 'AccessDeniedException'],
    [404, 'ResourceNotFoundException'],
  ])('is terminal after %i %s', async (status, code) => {
    const { server, converse } = await setUp();
    server.fail(refusal(status, code));

    const failure = await failureOf(converse, call(QUESTION));

    expect(failure).toMatchObject({ done: 'no', kind: 'terminal', code });
  });

  it.each<ProviderFault['how']>(['cut', 'halfway', 'garbage'])(
    'is retryable after an answer that is %s, and calls once',
    async (how) => {
      const { server, converse } = await setUp();
      server.fail({ when: 'after', how });

      const failure = await failureOf(converse, call(QUESTION));

      expect(failure).toMatchObject({ done: 'no', kind: 'retryable' });
      expect(failure.message).toMatch(/^Model converse: /);
      expect(failure.message).not.toMatch(/due|asked for/);
      expect(server.requests).toHaveLength(1);
    },
  );

  it('is retryable when no answer came in time', async () => {
    const { server, converse } = await setUp();
    const limit = new AbortController();
    server.fail({ when: 'before', how: 'hold' });

    const failing = failureOf(converse, call(QUESTION, { signal: limit.signal }));
    await server.held();
    limit.abort(new Error('timed out'));

    expect(await failing).toMatchObject({ done: 'no', kind: 'retryable', code: 'PROVIDER_TIMEOUT' });
  });

  it('is retryable when nobody takes the connection', async () => {
    const { server, converse } = await setUp();
    servers.splice(0);
    await server.close();

    const failure = await failureOf(converse, call(QUESTION));

    expect(failure).toMatchObject({ done: 'no', kind: 'retryable', code: 'PROVIDER_UNREACHABLE' });
  });
});
