import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { crc32 } from 'node:zlib';
import type { DynamoDb, DynamoDbServer, ListenOptions } from './dynamodb.ts';

const MAX_REQUEST_BYTES = 16 * 1024 * 1024;

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const buffer = Buffer.from(chunk);
    bytes += buffer.length;
    if (bytes > MAX_REQUEST_BYTES) {
      return undefined;
    }
    chunks.push(buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function answer(
  dynamoDb: Pick<DynamoDb, 'handle'>,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const body = await bodyOf(request);
  if (body === undefined) {
    response.writeHead(413, { connection: 'close' }).end();
    return;
  }
  const target = request.headers['x-amz-target'];
  const result = await dynamoDb.handle({ target: typeof target === 'string' ? target : '', body });
  response.writeHead(result.status, {
    ...result.headers,
    'content-length': Buffer.byteLength(result.body),
    'x-amz-crc32': crc32(result.body),
  });
  response.end(result.body);
}

function listening(server: Server, { port, host }: Required<ListenOptions>): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
}

/** Serves the API over HTTP. Requests are not authenticated: bind to the loopback interface only. */
export async function serve(
  dynamoDb: Pick<DynamoDb, 'handle'>,
  { port = 0, host = '127.0.0.1' }: ListenOptions,
): Promise<DynamoDbServer> {
  const server = createServer((request, response) => {
    answer(dynamoDb, request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });
  await listening(server, { port, host });
  const address = server.address();
  const actual = typeof address === 'object' && address !== null ? address.port : port;
  return {
    port: actual,
    url: `http://${host}:${actual}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
