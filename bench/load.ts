/**
 * Load on the ingress: virtual users that post one envelope after the other, more of them stage by stage.
 *
 *   npm run load                                    an ingress of its own on loopback, in front of a local worker
 *   npm run load -- --url http://127.0.0.1:3000     an ingress on loopback that is running already
 *   npm run load -- --stack Shop                    a deployed stack, by its output Ingress…Endpoint; requests are
 *                                                   signed, or carry the LOAD_API_KEY of the environment
 *
 * `--stages 2s:10,4s:20,2s:0 --max-requests 5000` bound it; `--type T` names the message type. Exit code 1 when a
 * check fails: every answer is 202 or 429, 95 of 100 come within `--p95 MILLISECONDS`, and with a worker of its own
 * every accepted message is done once.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { paginateScan } from '@aws-sdk/client-dynamodb';
import { SignatureV4 } from '@smithy/signature-v4';

/** No run goes beyond these, whatever it is asked for. */
const MAX_USERS = 500;
const MAX_SECONDS = 600;
const MAX_REQUESTS = 1_000_000;
const PAUSE_MILLISECONDS = 100;

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    stack: { type: 'string' },
    stages: { type: 'string', default: '2s:10,4s:20,2s:0' },
    'max-requests': { type: 'string', default: '5000' },
    p95: { type: 'string', default: 'Infinity' },
    type: { type: 'string', default: 'CaseDeadlineCalculationRequested' },
  },
});

interface Stage {
  readonly seconds: number;
  readonly users: number;
}

interface Target {
  readonly url: string;
  /** Headers by which the ingress knows who sends a body. @default none */
  readonly sign?: (body: string) => Promise<Record<string, string>>;
  /** Waits until what was accepted is done, and says how many messages were done. */
  readonly finish?: (accepted: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

function parseStages(text: string): Stage[] {
  const stages = text.split(',').map((part) => {
    const [, seconds, users] = /^(\d+)s:(\d+)$/.exec(part.trim()) ?? [];
    if (seconds === undefined || users === undefined) {
      throw new Error(`--stages: "${part}" must be <seconds>s:<users>, e.g. 30s:100`);
    }
    return { seconds: Number(seconds), users: Number(users) };
  });
  const total = stages.reduce((sum, { seconds }) => sum + seconds, 0);
  if (total > MAX_SECONDS) throw new Error(`--stages: ${total} seconds are over the limit of ${MAX_SECONDS}`);
  if (stages.some(({ users }) => users > MAX_USERS)) {
    throw new Error(`--stages: at most ${MAX_USERS} users`);
  }
  return stages;
}

async function ownTarget(): Promise<Target> {
  // Loaded here alone: a deployed stack needs none of it.
  const [{ App, Stack }, { Template }, { Queue }, { IngressApi }] = await Promise.all([
    import('aws-cdk-lib'),
    import('aws-cdk-lib/assertions'),
    import('aws-cdk-lib/aws-sqs'),
    import('../lib/constructs/ingress-api.ts'),
  ]);
  const [{ listenOnLoopback }, { createIngress }, { startRuntime }, { messages }, system] = await Promise.all(
    [
      import('../local/edge/http-server.ts'),
      import('../local/ingress/ingress.ts'),
      import('../local/runtime.ts'),
      import('../lambdas/messages/index.ts'),
      import('../lambdas/aws/system.ts'),
    ],
  );
  const { systemClock, systemId, systemRandom } = system;
  const runtime = await startRuntime({
    clock: systemClock,
    random: systemRandom,
    newId: systemId,
    messages,
    onError: (error) => console.error(error),
  });
  const stack = new Stack(new App(), 'Load');
  new IngressApi(stack, 'Ingress', { queue: new Queue(stack, 'Queue') });
  const server = await listenOnLoopback(
    createIngress({
      template: Template.fromStack(stack).toJSON(),
      clock: systemClock,
      sqs: runtime.clients.sqs,
      queueUrl: runtime.names.queueUrl,
    }),
  );
  const countDone = async (): Promise<number> => {
    let done = 0;
    const pages = paginateScan(
      { client: runtime.clients.dynamodb },
      {
        TableName: runtime.names.tableName,
        FilterExpression: '#status = :completed',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: { ':completed': { S: 'COMPLETED' } },
      },
    );
    for await (const { Count = 0 } of pages) done += Count;
    return done;
  };
  return {
    url: server.url,
    async finish(accepted) {
      const until = Date.now() + 120_000;
      while ((await countDone()) < accepted && Date.now() < until) await sleep(500);
      return countDone();
    },
    async close() {
      await server.close();
      await runtime.stop();
    },
  };
}

async function findTarget(): Promise<Target> {
  const close = async () => {};
  if (values.url !== undefined) {
    const { hostname } = new URL(values.url);
    if (hostname !== '127.0.0.1' && hostname !== 'localhost' && hostname !== '[::1]') {
      throw new Error('--url takes loopback only; name a deployed stack with --stack');
    }
    return { url: values.url, close };
  }
  if (values.stack === undefined) return ownTarget();
  const client = new CloudFormationClient({});
  const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: values.stack }));
  const url = Stacks?.[0]?.Outputs?.find(({ OutputKey }) =>
    /^Ingress.*(Url|Endpoint)/.test(OutputKey ?? ''),
  )?.OutputValue;
  if (url === undefined)
    throw new Error(`The stack ${values.stack} has no output that begins with Ingress and holds its URL`);
  const base = url.replace(/\/$/, '');
  return { url: base, sign: signerOf(new URL(`${base}/messages`), client), close };
}

/** An API key where there is one, else a signature by the credentials that the AWS SDK finds. */
function signerOf(url: URL, { config }: CloudFormationClient): NonNullable<Target['sign']> {
  const apiKey = process.env.LOAD_API_KEY;
  if (apiKey !== undefined) return async () => ({ 'x-api-key': apiKey });
  const { credentials, region, sha256 } = config;
  const signer = new SignatureV4({ service: 'execute-api', credentials, region, sha256 });
  return async (body) => {
    const { protocol, hostname, pathname } = url;
    const headers = { host: url.host, ...JSON_TYPE };
    const signed = await signer.sign({ method: 'POST', protocol, hostname, path: pathname, headers, body });
    const { host: _, ...others } = signed.headers;
    return others;
  };
}

const JSON_TYPE = { 'content-type': 'application/json' };

const envelope = () => {
  const id = randomUUID();
  return {
    messageId: id,
    schemaVersion: 2,
    messageType: values.type,
    producer: 'load',
    occurredAt: new Date().toISOString(),
    idempotencyKey: `load:${id}`,
    aggregateType: 'CASE',
    aggregateId: `LOAD-${id}`,
    aggregateVersion: 1,
    payload: { caseId: id, stage: 'INTAKE', effectiveAt: new Date().toISOString(), calendarDays: true },
  };
};

const stages = parseStages(values.stages);
const maxRequests = Math.min(Number(values['max-requests']), MAX_REQUESTS);
if (!(maxRequests >= 1)) throw new Error('--max-requests must be a number from 1');
const maxP95 = Number(values.p95);
if (!(maxP95 >= 0)) throw new Error('--p95 must be a number of milliseconds');
const target = await findTarget();
const latencies: number[] = [];
const statuses = new Map<string, number>();
let requests = 0;
let wanted = 0;
let running = true;

async function user(index: number): Promise<void> {
  while (running && requests < maxRequests) {
    if (index >= wanted) {
      await sleep(PAUSE_MILLISECONDS);
      continue;
    }
    requests += 1;
    const startedAt = performance.now();
    const body = JSON.stringify(envelope());
    const status = await fetch(`${target.url}/messages`, {
      method: 'POST',
      headers: { ...JSON_TYPE, ...(await target.sign?.(body)) },
      body,
      signal: AbortSignal.timeout(30_000),
    }).then(
      async (response) => {
        await response.arrayBuffer();
        return String(response.status);
      },
      (error: unknown) => (error instanceof Error ? error.name : 'failed'),
    );
    latencies.push(performance.now() - startedAt);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    await sleep(PAUSE_MILLISECONDS);
  }
}

const startedAt = performance.now();
const users = Array.from({ length: Math.max(...stages.map((stage) => stage.users)) }, (_, index) =>
  user(index),
);
let before = 0;
for (const stage of stages) {
  const steps = stage.seconds * 10;
  for (let step = 1; step <= steps && requests < maxRequests; step += 1) {
    wanted = Math.round(before + ((stage.users - before) * step) / steps);
    await sleep(100);
  }
  before = stage.users;
}
running = false;
await Promise.all(users);
const seconds = (performance.now() - startedAt) / 1000;

latencies.sort((left, right) => left - right);
const at = (share: number) => (latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(1);
const accepted = statuses.get('202') ?? 0;
const done = await target.finish?.(accepted);
await target.close();

console.log(
  `requests   ${requests} in ${seconds.toFixed(1)} s (${(requests / seconds).toFixed(0)} a second)`,
);
console.log(`answers    ${[...statuses].map(([status, count]) => `${status}: ${count}`).join(', ')}`);
console.log(`latency    p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms`);
if (done !== undefined) console.log(`done       ${done} of ${accepted} accepted`);
const unexpected = [...statuses.keys()].filter((status) => status !== '202' && status !== '429');
const checks: readonly (readonly [boolean, string])[] = [
  [unexpected.length === 0, `every answer is 202 or 429, not ${unexpected.join(', ')}`],
  [accepted > 0, 'something is accepted'],
  [Number(at(0.95)) <= maxP95, `95 of 100 answers come within ${maxP95} ms`],
  [done === undefined || done === accepted, 'what is accepted is done once'],
];
for (const [, what] of checks.filter(([holds]) => !holds)) {
  console.error(`FAILED: ${what}`);
  process.exitCode = 1;
}
