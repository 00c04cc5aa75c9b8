import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { providers } from '../../lambdas/providers/index.ts';
import { type EdgeServer, listenOnLoopback } from '../../local/edge/http-server.ts';
import { deadlineEnvelope } from '../helpers/envelopes.ts';
import { SWEEP } from '../helpers/reconciler.ts';
import { type Bundle, kilobytes, lambdaEnvironment, shippedBundles } from '../helpers/shipped-bundles.ts';
import { checkSignature } from '../helpers/signature.ts';

/** KB of JavaScript that a bundle may have, 300 at most, with some room: what slips in shows here. */
const LARGEST_KB: Readonly<Record<string, number>> = {
  Commit: 220,
  Plan: 265,
  Reconciler: 285,
  ReportFailure: 210,
  RunEffectEmail: 265,
  RunEffectModel: 270,
  RunEffectNotices: 245,
  RunEffectPayments: 245,
  Starter: 290,
  Waker: 235,
};
/** KB of what a function reads on demand. */
const LARGEST_LATER_KB = 340;

const scriptsOf = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.mjs'))
    .map((file) => join(folder, file));

/** What is in an asset of the SDK's clients, by what they call their services. */
const CLIENTS = ['DynamoDB', 'SFN', 'SQS', 'SESv2', 'Bedrock Runtime', 'S3', 'Lambda', 'Secrets Manager'];

const clientsOf = (files: readonly string[]): readonly string[] => {
  const code = files.map((file) => readFileSync(file, 'utf8'));
  return CLIENTS.filter((name) =>
    code.some((text) => new RegExp(`serviceId:[\\w$]+\\?\\.serviceId\\?\\?"${name}"`).test(text)),
  );
};

/** Runs a script with what a function finds in its environment. @returns what it printed */
function runIn(bundle: Bundle | undefined, script: string): string {
  const { folder = '', environment = {} } = bundle ?? {};
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: folder,
    env: { ...environment, ...lambdaEnvironment(folder) },
    encoding: 'utf8',
  });
}

/** The files that a function reads before its handler is called. */
function readAtInit(bundle: Bundle): readonly string[] {
  const script = `
    import { registerHooks } from 'node:module';
    registerHooks({ load(url, context, next) { console.log(url); return next(url, context); } });
    await import(${JSON.stringify(join(bundle.folder, 'index.mjs'))});`;
  const read = runIn(bundle, script).split('\n');
  return read.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url));
}

const SECRET_KEY = 'the secret key';

/** Fits everything that a function asks for. */
const ANSWER = JSON.stringify({
  Attributes: { failedBatches: { N: '9' } },
  Items: [],
  MessageId: 'm',
  Responses: {},
  ScalingConfig: { MaximumConcurrency: 7 },
  SecretString: 'a secret',
  executionArn: 'arn',
  executions: [],
  startDate: 1,
});

const LARGE = deadlineEnvelope({ payload: { ...deadlineEnvelope().payload, padding: 'x'.repeat(210_000) } });
const RECORD = {
  messageId: 'm-1',
  receiptHandle: 'r',
  body: JSON.stringify(LARGE),
  attributes: { ApproximateReceiveCount: '1', SentTimestamp: '1767262500000' },
  messageAttributes: {},
  eventSourceARN: 'arn:aws:sqs:eu-west-1:000000000000:q',
};
const EMAIL = {
  key: 'k#mail',
  name: 'mail',
  provider: 'Email',
  operation: 'send',
  request: { from: 'a@example.org', to: ['b@example.org'], subject: 'Hello', text: 'there' },
  requestHash: 'a'.repeat(64),
  onRequestChange: 'fail',
  idempotencyKey: 'k',
};

describe('bundles', () => {
  let bundles: Readonly<Record<string, Bundle>> = {};

  beforeAll(() => {
    bundles = shippedBundles();
  });

  it('exist for every function', () => {
    expect(Object.keys(bundles).sort()).toEqual(
      ['Commit', 'Plan', 'Reconciler', 'ReportFailure', 'Starter', 'Waker']
        .concat(providers.map(({ name }) => `RunEffect${name}`))
        .sort(),
    );
  });

  it('load in a process of their own with what the template gives them and Lambda sets, and nothing else', () => {
    for (const [name, bundle] of Object.entries(bundles)) {
      const script = `const { handler } = await import(${JSON.stringify(join(bundle.folder, 'index.mjs'))}); console.log(typeof handler); process.exit(0)`;
      expect(runIn(bundle, script).trim(), name).toBe('function');
    }
  });

  it('are small, minified and carry only what is used', () => {
    for (const [name, bundle] of Object.entries(bundles)) {
      const atInit = kilobytes(readAtInit(bundle));
      expect(atInit, name).toBeLessThanOrEqual(LARGEST_KB[name] ?? 0);
      expect(kilobytes(scriptsOf(bundle.folder)) - atInit, name).toBeLessThanOrEqual(LARGEST_LATER_KB);
    }
  });

  it('read at init the clients of everyday calls, and carry those of their own other calls', () => {
    const clients = Object.entries(bundles).map(([name, bundle]) => {
      const atInit = clientsOf(readAtInit(bundle));
      const carried = clientsOf(scriptsOf(bundle.folder));
      return [name, [atInit, carried.filter((client) => !atInit.includes(client))]];
    });

    expect(Object.fromEntries(clients)).toEqual({
      Commit: [['DynamoDB'], ['S3']],
      Plan: [['DynamoDB'], ['S3']],
      Reconciler: [['DynamoDB', 'SFN', 'SQS'], ['Lambda']],
      ReportFailure: [['DynamoDB'], []],
      RunEffectEmail: [['DynamoDB'], ['SESv2', 'S3', 'Secrets Manager']],
      RunEffectModel: [['DynamoDB'], ['Bedrock Runtime', 'S3', 'Secrets Manager']],
      RunEffectNotices: [['DynamoDB'], ['S3', 'Secrets Manager']],
      RunEffectPayments: [['DynamoDB'], ['S3', 'Secrets Manager']],
      Starter: [['DynamoDB', 'SFN', 'SQS'], ['S3']],
      Waker: [['DynamoDB', 'SFN'], []],
    });
  });

  it('name the line of the source that a fault is at', () => {
    const { folder = '', environment = {} } = bundles.Commit ?? {};
    const { TABLE_NAME: _left, ...rest } = environment;
    const script = `await import(${JSON.stringify(join(folder, 'index.mjs'))}).catch(({ stack }) => console.log(stack));`;

    const stack = runIn({ folder, environment: rest }, script);

    expect(stack).toMatch(/ConfigurationError: The environment variable TABLE_NAME is not set/);
    expect(stack).toMatch(/lambdas\/aws\/env\.ts:\d+/);
    expect(stack).toMatch(/lambdas\/commit\/deps\.ts:\d+/);
  });

  describe('sign what they send', () => {
    let server: EdgeServer;
    afterEach(() => server.close());

    /** Invokes a bundle's function once. @returns the services that were called, or what was wrong with a call */
    async function call(name: string, event: unknown, more: Readonly<Record<string, string>> = {}) {
      const services = new Set<string>();
      server = await listenOnLoopback(async (request) => {
        services.add(checkSignature(request, SECRET_KEY));
        return { status: 200, headers: { 'content-type': 'application/json' }, body: ANSWER };
      });
      const { folder = '', environment = {} } = bundles[name] ?? {};
      const script = `
        import { readFileSync } from 'node:fs';
        const { handler } = await import(${JSON.stringify(join(folder, 'index.mjs'))});
        await handler(JSON.parse(readFileSync(0, 'utf8')), { getRemainingTimeInMillis: () => 30_000 }).catch(() => {});
        process.exit(0);`;
      const called = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
        cwd: folder,
        env: {
          ...environment,
          AWS_REGION: 'eu-west-1',
          AWS_ACCESS_KEY_ID: 'AKID',
          AWS_SECRET_ACCESS_KEY: SECRET_KEY,
          AWS_SESSION_TOKEN: 'a token',
          AWS_ENDPOINT_URL: server.url,
          AWS_ENDPOINT_URL_SESV2: server.url,
          LAMBDA_TASK_ROOT: folder,
          QUEUE_URL: `${server.url}/000000000000/q`,
          ...more,
        },
      });
      called.child.stdin?.end(JSON.stringify(event));
      await called;
      return [...services].sort();
    }

    it.each([
      ['Starter', { Records: [RECORD] }, ['dynamodb', 's3', 'states']],
      ['Starter', { Records: [{ ...RECORD, body: 'x' }] }, ['sqs']],
      ['Reconciler', SWEEP, ['dynamodb', 'lambda', 'states']],
      ['RunEffectEmail', { effect: EMAIL, execution: { Id: 'arn', Name: 'k' } }, ['dynamodb', 'ses']],
    ])('%s', async (name, event, services) => {
      expect(await call(name, event)).toEqual(services);
    });

    it('a provider with a secret', async () => {
      expect(await call('RunEffectPayments', {}, { SECRET_ID: 'arn' })).toEqual(['secretsmanager']);
    });
  });
});
