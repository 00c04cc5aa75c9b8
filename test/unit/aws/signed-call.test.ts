import { Readable } from 'node:stream';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { clientConfig } from '../../../lambdas/aws/clients.ts';
import { createEventSourceControl } from '../../../lambdas/aws/event-source.ts';
import { createPayloadReader, offloadPayload } from '../../../lambdas/aws/payloads.ts';
import { readSecret } from '../../../lambdas/aws/secrets-manager.ts';
import { beside } from '../../../lambdas/aws/signed-call.ts';
import { sha256 } from '../../../lambdas/core/identity.ts';
import { checkSignature } from '../../helpers/signature.ts';

const SECRET = 'a secret key';

interface Sent {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

interface Answer {
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A client whose requests are looked at instead of sent, and checked. */
function setUp(answer: Answer = {}, { region = 'eu-west-1', fips = false } = {}) {
  const sent: Sent[] = [];
  const services: string[] = [];
  const client = new DynamoDBClient({
    ...clientConfig({
      region,
      credentials: { accessKeyId: 'AKID', secretAccessKey: SECRET, sessionToken: 'a token' },
      requestHandler: {
        async handle(request: Sent) {
          const { method, path, query, headers, body = new Uint8Array() } = request;
          sent.push(request);
          const arrived = { method, path, query: new URLSearchParams(query), headers, body };
          services.push(checkSignature(arrived, SECRET));
          const { statusCode = 200, headers: given = {}, body: text = '{}' } = answer;
          return { response: { statusCode, headers: given, body: Readable.from([Buffer.from(text)]) } };
        },
      },
    }),
    useFipsEndpoint: fips,
  });
  const url = () =>
    sent.map(
      ({ protocol, hostname, port, path }) =>
        `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`,
    );
  return { client, sent, services, url };
}

const BYTES = new TextEncoder().encode('{"a":1}');

describe('a call of S3', () => {
  it('puts an object under its digest, which S3 is told to check', async () => {
    const t = setUp();
    const ref = await offloadPayload(beside(t.client, 's3', {}), 'payloads', BYTES, 'key');

    const digest = sha256(BYTES);
    expect(ref).toEqual({ bucket: 'payloads', key: `payloads/key/${digest}`, sha256: digest });
    expect(t.services).toEqual(['s3']);
    expect(t.url()).toEqual([`https://payloads.s3.eu-west-1.amazonaws.com/payloads/key/${digest}`]);
    expect(t.sent[0]).toMatchObject({
      method: 'PUT',
      headers: {
        'content-length': String(BYTES.length),
        'x-amz-checksum-sha256': Buffer.from(digest, 'hex').toString('base64'),
        'x-amz-security-token': 'a token',
      },
    });
  });

  it('gets an object of any key and version', async () => {
    const t = setUp({ headers: { 'content-length': '7' }, body: '{"a":1}' });
    const reader = createPayloadReader(beside(t.client, 's3', {}), ['b']);

    const key = "a b/ü+(1)!*'/~=&?#%.json";
    const found = await reader.fetch({ bucket: 'b', key, versionId: 'v/1+', sha256: '' }, 100);

    expect(found).toEqual({ status: 'found', bytes: BYTES });
    expect(t.services).toEqual(['s3']);
    expect(decodeURIComponent(t.sent[0]?.path ?? '')).toBe(`/${key}`);
    expect(t.sent[0]?.query).toEqual({ versionId: 'v/1+' });
  });

  it('puts a bucket whose name no certificate fits into the path', async () => {
    const t = setUp();
    await offloadPayload(beside(t.client, 's3', {}), 'my.bucket', BYTES);

    expect(t.url()[0]).toMatch(/^https:\/\/s3\.eu-west-1\.amazonaws\.com\/my\.bucket\/payloads\/shared\//);
    expect(t.services).toEqual(['s3']);
  });

  it.each([
    ['NoSuchKey', 404, 'notFound'],
    ['AccessDenied', 403, 'denied'],
  ])('reads the code %s out of the answer', async (code, statusCode, status) => {
    const t = setUp({ statusCode, body: `<?xml version="1.0"?><Error><Code>${code}</Code></Error>` });
    const reader = createPayloadReader(beside(t.client, 's3', {}), ['b']);

    expect(await reader.fetch({ bucket: 'b', key: 'k', sha256: '' }, 100)).toEqual({ status });
  });

  it('fails by status and code', async () => {
    const t = setUp({ statusCode: 503, body: '<Error><Code>SlowDown</Code></Error>' });

    await expect(offloadPayload(beside(t.client, 's3', {}), 'b', BYTES)).rejects.toMatchObject({
      name: 'SlowDown',
      message: 's3 PutObject: HTTP 503 SlowDown',
      $metadata: { httpStatusCode: 503 },
    });
  });
});

describe('a call of Lambda', () => {
  it('reads and sets an event source mapping', async () => {
    const t = setUp({ body: '{"ScalingConfig":{"MaximumConcurrency":7}}' });
    const control = createEventSourceControl(beside(t.client, 'lambda', {}), 'an-id');

    expect(await control.maxConcurrency()).toBe(7);
    await control.set(false, 2);

    expect(t.services).toEqual(['lambda', 'lambda']);
    const url = 'https://lambda.eu-west-1.amazonaws.com/2015-03-31/event-source-mappings/an-id';
    expect(t.url()).toEqual([url, url]);
    expect(t.sent.map(({ method }) => method)).toEqual(['GET', 'PUT']);
    expect(JSON.parse(new TextDecoder().decode(t.sent[1]?.body))).toEqual({
      Enabled: false,
      ScalingConfig: { MaximumConcurrency: 2 },
    });
  });

  it('has no limit where the mapping has none', async () => {
    const t = setUp({ body: '{"ScalingConfig":null}' });

    expect(await createEventSourceControl(beside(t.client, 'lambda', {}), 'id').maxConcurrency()).toBe(
      undefined,
    );
  });

  it('fails under the name in the header', async () => {
    const headers = { 'x-amzn-errortype': 'TooManyRequestsException:http://internal' };
    const t = setUp({ statusCode: 429, headers });

    await expect(
      createEventSourceControl(beside(t.client, 'lambda', {}), 'id').set(true),
    ).rejects.toMatchObject({
      name: 'TooManyRequestsException',
    });
  });
});

describe('a call of Secrets Manager', () => {
  it('reads a text, and says when there is none', async () => {
    const t = setUp({ body: '{"SecretString":"s"}' });
    const binary = setUp({ body: '{"SecretBinary":"AA=="}' });

    expect(await readSecret(beside(t.client, 'secretsmanager', {}), 'an:arn')).toBe('s');
    expect(await readSecret(beside(binary.client, 'secretsmanager', {}), 'an:arn')).toBe(undefined);
    expect(t.services).toEqual(['secretsmanager']);
    expect(t.sent[0]).toMatchObject({
      hostname: 'secretsmanager.eu-west-1.amazonaws.com',
      headers: { 'x-amz-target': 'secretsmanager.GetSecretValue' },
    });
  });

  it('fails under the name in the body', async () => {
    const t = setUp({
      statusCode: 400,
      body: '{"__type":"com.amazonaws.secretsmanager#ResourceNotFoundException"}',
    });

    await expect(readSecret(beside(t.client, 'secretsmanager', {}), 'x')).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
  });
});

describe('the endpoint', () => {
  it.each([
    ['cn-north-1', false, 'https://b.s3.cn-north-1.amazonaws.com.cn/'],
    ['us-gov-west-1', false, 'https://b.s3.us-gov-west-1.amazonaws.com/'],
    ['us-east-1', true, 'https://b.s3-fips.us-east-1.amazonaws.com/'],
  ])('of %s, FIPS %s, is its own', async (region, fips, start) => {
    const t = setUp({}, { region, fips });
    await offloadPayload(beside(t.client, 's3', {}), 'b', BYTES);

    expect(t.url()[0]?.startsWith(start)).toBe(true);
    expect(t.services).toEqual(['s3']);
  });

  it.each([
    [{ AWS_ENDPOINT_URL: 'http://127.0.0.1:4566' }, 'http://127.0.0.1:4566/b/payloads/'],
    [
      { AWS_ENDPOINT_URL: 'http://127.0.0.1:4566', AWS_ENDPOINT_URL_S3: 'https://s3.example/base/' },
      'https://s3.example/base/b/payloads/',
    ],
  ])('is the one that the environment gives: %j', async (env, start) => {
    const t = setUp();
    await offloadPayload(beside(t.client, 's3', env), 'b', BYTES);

    expect(t.url()[0]?.startsWith(start)).toBe(true);
    expect(t.services).toEqual(['s3']);
  });
});
