import { createServer, type IncomingMessage } from 'node:http';
import type { ApiRequest, ApiResponse } from './router.ts';

/** A listening endpoint. */
export interface Endpoint {
  readonly url: string;
  readonly port: number;
  /** Stops listening and drops open connections. */
  close(): Promise<void>;
}

/**
 * Serves the API on the loopback interface.
 * @param port 0 picks a free one
 * @throws when the port is in use
 */
export async function listen(
  service: { handle(request: ApiRequest): Promise<ApiResponse> },
  port = 0,
): Promise<Endpoint> {
  const server = createServer((request, response) => {
    void (async () => {
      const target = request.headers['x-amz-target'];
      const body = await readBody(request);
      const answer = await service.handle({ target: typeof target === 'string' ? target : undefined, body });
      response.writeHead(answer.status, answer.headers).end(answer.body);
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  const actual = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://127.0.0.1:${actual}`,
    port: actual,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
