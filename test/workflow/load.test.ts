import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listenOnLoopback } from '../../local/edge/http-server.ts';
import { createIngress } from '../../local/ingress/ingress.ts';
import { ingressTemplate } from '../helpers/ingress-template.ts';
import { startStackServer } from '../helpers/stack-server.ts';
import { startWorker } from '../helpers/worker.ts';

const SCRIPT = fileURLToPath(new URL('../../bench/load.ts', import.meta.url));

function load(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return new Promise<{ code: unknown; text: string }>((done) => {
    const options = { env: { ...process.env, LOAD_API_KEY: undefined, ...env } };
    execFile(process.execPath, [SCRIPT, ...args], options, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : error.code, text: `${stdout}${stderr}` }),
    );
  });
}

/** A stack with an ingress, as the script sees it; who has sent what is kept. */
async function startStack() {
  const worker = await startWorker();
  const senders: { authorization: string | undefined; apiKey: string | undefined }[] = [];
  const ingress = createIngress({
    template: ingressTemplate().toJSON(),
    clock: worker.clock,
    sqs: worker.clients.sqs,
    queueUrl: worker.names.queueUrl,
  });
  const front = await listenOnLoopback((request) => {
    senders.push({ authorization: request.headers.authorization, apiKey: request.headers['x-api-key'] });
    return ingress(request);
  });
  onTestFinished(() => front.close());
  const stack = await startStackServer({
    stack: 'Shop',
    outputs: () => ({ WorkerNames: '{}', IngressApiEndpoint4F160690: `${front.url}/` }),
  });
  onTestFinished(() => stack.close());
  const env = {
    AWS_ENDPOINT_URL: stack.url,
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'AKIDTEST',
    AWS_SECRET_ACCESS_KEY: 'secret',
  };
  return { worker, senders, env };
}

describe('npm run load', () => {
  it('puts load on an ingress of its own, and finds every accepted message done once', async () => {
    const { code, text } = await load(['--stages', '60s:300', '--max-requests', '12']);

    expect(text).toMatch(/requests +12 in/);
    expect(text).toMatch(/answers +202: 12/);
    expect(text).toMatch(/done +12 of 12 accepted/);
    expect(code).toBe(0);
  });

  it('finds a stack’s ingress by its outputs, and signs what it sends', async () => {
    const { worker, senders, env } = await startStack();

    const { code, text } = await load(['--stack', 'Shop', '--stages', '60s:300', '--max-requests', '6'], env);

    expect(text).toMatch(/answers +202: 6/);
    expect(code).toBe(0);
    expect(senders).toHaveLength(6);
    expect(senders[0]?.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDTEST\/\d+\/eu-west-1\/execute-api\//,
    );
    await worker.untilIdle();
    expect(await worker.executions('SUCCEEDED')).toBe(6);
  });

  it('sends an API key where it is given one', async () => {
    const { senders, env } = await startStack();

    const { code } = await load(['--stack', 'Shop', '--stages', '1s:1', '--max-requests', '1'], {
      ...env,
      LOAD_API_KEY: 'key-1',
    });

    expect(code).toBe(0);
    expect(senders).toEqual([{ authorization: undefined, apiKey: 'key-1' }]);
  });

  it('fails when a check does', async () => {
    const { env } = await startStack();
    const args = ['--stack', 'Shop', '--stages', '1s:1', '--max-requests', '1'];

    const slow = await load([...args, '--p95', '0'], env);
    const refused = await load([...args, '--type', 'no type'], env);

    expect(slow).toMatchObject({
      code: 1,
      text: expect.stringContaining('95 of 100 answers come within 0 ms'),
    });
    expect(refused).toMatchObject({ code: 1, text: expect.stringContaining('202 or 429, not 400') });
  });

  it.each([
    ['a host that is not loopback', ['--url', 'https://example.com'], /loopback only/],
    ['more users than is bounded', ['--stages', '1s:501'], /at most 500 users/],
    ['more time than is bounded', ['--stages', '601s:1'], /limit of 600/],
    ['no number of requests', ['--max-requests', 'all'], /--max-requests must be/],
  ])('refuses %s', async (_what, args, message) => {
    const { code, text } = await load(args);

    expect(code).toBe(1);
    expect(text).toMatch(message);
  });
});
