import { connect } from 'node:net';
import { ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import type { EdgeRequest } from '../../../local/edge/http.ts';
import { listenOnLoopback } from '../../../local/edge/http-server.ts';
import { createServiceRouter } from '../../../local/edge/router.ts';
import { createSqsDispatch } from '../../../local/sqs/index.ts';
import { setUpSqs } from '../../conformance/sqs-setup.ts';

const answer = async () => ({ status: 200, headers: {}, body: 'ok' });

describe('loopback server', () => {
  it('serves a default SDK client', async () => {
    const { store, clock } = setUpSqs();
    store.createQueue('q', {}, {});
    const server = await listenOnLoopback(createServiceRouter({ sqs: createSqsDispatch({ store, clock }) }));
    const client = new SQSClient({
      region: 'us-east-1',
      endpoint: server.url,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
    const QueueUrl = `${server.url}/000000000000/q`;

    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'hello' }));
    const { Messages } = await client.send(new ReceiveMessageCommand({ QueueUrl }));

    expect(Messages?.map(({ Body }) => Body)).toEqual(['hello']);
    client.destroy();
    await server.close();
  });

  it('passes method, path, query, headers and bytes', async () => {
    const seen: EdgeRequest[] = [];
    const server = await listenOnLoopback(async (request) => {
      seen.push(request);
      return { status: 201, headers: { 'x-answer': 'yes' }, body: Uint8Array.of(0, 255) };
    });

    const response = await fetch(`${server.url}/a%20b/c?x=1&y`, {
      method: 'PUT',
      headers: { 'X-Ask': 'Me' },
      body: Uint8Array.of(1, 254),
    });

    expect(response.status).toBe(201);
    expect(response.headers.get('x-answer')).toBe('yes');
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(Uint8Array.of(0, 255));
    expect(seen[0]).toMatchObject({ method: 'PUT', path: '/a%20b/c', headers: { 'x-ask': 'Me' } });
    expect([...(seen[0]?.query ?? [])]).toEqual([
      ['x', '1'],
      ['y', ''],
    ]);
    expect([...(seen[0]?.body ?? [])]).toEqual([1, 254]);
    await server.close();
  });

  it('says which port is taken', async () => {
    const server = await listenOnLoopback(answer);

    await expect(listenOnLoopback(answer, { port: server.port })).rejects.toThrow(
      `port ${server.port} on 127.0.0.1 is in use`,
    );
    await server.close();
  });

  it('answers 500 when a service breaks, and reports the error', async () => {
    const errors: unknown[] = [];
    const server = await listenOnLoopback(() => Promise.reject(new Error('broken')), {
      onError: (error) => errors.push(error),
    });

    expect((await fetch(server.url)).status).toBe(500);
    expect(errors).toMatchObject([{ message: 'broken' }]);
    await server.close();
  });

  it('tells a service when its caller goes away', async () => {
    const called = Promise.withResolvers<AbortSignal | undefined>();
    const server = await listenOnLoopback(async ({ signal }) => {
      called.resolve(signal);
      return new Promise(() => {});
    });
    const socket = connect(server.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const signal = await called.promise;
    const aborted = new Promise((resolve) => signal?.addEventListener('abort', resolve));
    socket.destroy();

    await aborted;
    expect(signal?.aborted).toBe(true);
    await server.close();
  });

  it('answers for a service that is not there', async () => {
    const server = await listenOnLoopback(createServiceRouter({}));
    const response = await fetch(server.url, {
      method: 'POST',
      headers: { 'x-amz-target': 'AmazonSQS.SendMessage' },
    });

    expect(response.status).toBe(501);
    expect(await response.text()).toContain('sqs:SendMessage');
    await server.close();
  });
});
