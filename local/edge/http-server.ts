import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Dispatch, EdgeRequest } from './http.ts';

/** An HTTP listener on loopback. */
export interface EdgeServer {
  readonly port: number;
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** Stops listening and cuts open connections, long polls included. */
  close(): Promise<void>;
}

/**
 * Serves `dispatch` on 127.0.0.1.
 *
 * @throws Error that names the port when it is taken.
 */
export async function listenOnLoopback(
  dispatch: Dispatch,
  options: {
    /** 0 picks a free one. @default 0 */
    readonly port?: number;
    /** Told of errors that `dispatch` threw; the client gets a 500. */
    readonly onError?: (error: unknown) => void;
  } = {},
): Promise<EdgeServer> {
  const { port = 0, onError } = options;
  const server = createServer((incoming, outgoing) => {
    answer(dispatch, incoming, outgoing).catch((error: unknown) => {
      onError?.(error);
      if (!outgoing.headersSent) outgoing.writeHead(500, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ __type: 'InternalServerError', message: 'the local runtime failed' }));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`port ${port} on 127.0.0.1 is in use; choose another, or 0 for any free one`)
          : error,
      );
    });
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no TCP address');
  return {
    port: address.port,
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}

async function answer(
  dispatch: Dispatch,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort(new Error('the client went away'));
  });
  const request = await readRequest(incoming, gone.signal);
  const response = await dispatch(request);
  const body = typeof response.body === 'string' ? Buffer.from(response.body) : response.body;
  outgoing.writeHead(response.status, { 'content-length': body.byteLength, ...response.headers });
  outgoing.end(incoming.method === 'HEAD' ? undefined : body);
}

async function readRequest(incoming: IncomingMessage, signal: AbortSignal): Promise<EdgeRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  const target = incoming.url ?? '/';
  const mark = target.indexOf('?');
  return {
    method: incoming.method ?? 'GET',
    path: mark < 0 ? target : target.slice(0, mark),
    query: new URLSearchParams(mark < 0 ? '' : target.slice(mark + 1)),
    headers,
    body: Buffer.concat(chunks),
    signal,
  };
}
