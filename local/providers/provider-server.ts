import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import {
  createServer as createHttp2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { Server } from 'node:net';
import type { JsonObject } from '../../lambdas/core/json.ts';

/** A request as the provider got it. */
export interface ProviderRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ProviderAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** @default no body */
  readonly body?: JsonObject;
}

/** What a provider does with requests, and how it words its errors. */
export interface ProviderService {
  act(request: ProviderRequest): ProviderAnswer;
  /** An error in the provider's own form. */
  refuse(status: number, code: string): ProviderAnswer;
}

/**
 * How one request goes wrong, before the provider acts or after.
 *
 * - `cut`: the connection is closed without an answer
 * - `halfway`: it is closed within the answer
 * - `hold`: nothing happens until `release()`; then the request goes on as if nothing had been
 * - `garbage`: 200, and a body that is no JSON
 * - a status, with the code that the provider would give
 */
export interface ProviderFault {
  readonly when: 'before' | 'after';
  readonly how:
    | 'cut'
    | 'halfway'
    | 'hold'
    | 'garbage'
    | {
        readonly status: number;
        readonly code?: string;
        readonly headers?: Readonly<Record<string, string>>;
      };
}

/** A provider on loopback that can be told to fail. */
export interface ProviderServer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** All requests so far, those that failed included. */
  readonly requests: readonly ProviderRequest[];
  /** The next requests fail in this way, one each, in order. */
  fail(...faults: readonly ProviderFault[]): void;
  /** Resolves once a request is held. */
  held(): Promise<void>;
  /** Lets held requests go on. */
  release(): void;
  close(): Promise<void>;
}

type Incoming = IncomingMessage | Http2ServerRequest;

interface Outgoing {
  writeHead(status: number, headers: Record<string, string | number>): unknown;
  write(text: string, done: () => void): unknown;
  end(text: string): unknown;
}

type Listener = (incoming: Incoming, outgoing: Outgoing) => void;

/**
 * Serves a provider on 127.0.0.1.
 * @param options `http2`: over HTTP/2 without TLS, for clients that speak nothing else
 */
export async function startProviderServer(
  service: ProviderService,
  options: { readonly port?: number; readonly http2?: boolean } = {},
): Promise<ProviderServer> {
  const requests: ProviderRequest[] = [];
  const faults: ProviderFault[] = [];
  let released = Promise.withResolvers<void>();
  let holding = Promise.withResolvers<void>();

  /** @returns whether that was all of the answer */
  const fails = async ({ how }: ProviderFault, incoming: Incoming, outgoing: Outgoing): Promise<boolean> => {
    switch (how) {
      case 'hold':
        holding.resolve();
        await released.promise;
        return false;
      case 'cut':
        incoming.socket.destroy();
        return true;
      case 'halfway':
        outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 });
        await new Promise<void>((resolve) => outgoing.write('{"half":', () => resolve()));
        incoming.socket.destroy();
        return true;
      case 'garbage':
        outgoing.writeHead(200, { 'content-type': 'text/html' });
        outgoing.end('<html>not what you asked for</html>');
        return true;
      default: {
        const refusal = service.refuse(how.status, how.code ?? 'InjectedFailure');
        send(outgoing, { ...refusal, headers: { ...refusal.headers, ...how.headers } });
        return true;
      }
    }
  };
  const serve = async (incoming: Incoming, outgoing: Outgoing): Promise<void> => {
    const request = await readRequest(incoming);
    requests.push(request);
    const fault = faults.shift();
    if (fault?.when === 'before' && (await fails(fault, incoming, outgoing))) return;
    const answer = service.act(request);
    if (fault?.when === 'after' && (await fails(fault, incoming, outgoing))) return;
    send(outgoing, answer);
  };
  const listener = (incoming: Incoming, outgoing: Outgoing) => {
    serve(incoming, outgoing).catch(() => incoming.socket.destroy());
  };

  const { listen, close } = options.http2 ? http2Server(listener) : http1Server(listener);
  const url = await listen(options.port ?? 0);
  return {
    url,
    requests,
    fail: (...more) => void faults.push(...more),
    held: () => holding.promise,
    release: () => {
      released.resolve();
      released = Promise.withResolvers();
      holding = Promise.withResolvers();
    },
    close: () => {
      released.resolve();
      return close();
    },
  };
}

async function readRequest(incoming: Incoming): Promise<ProviderRequest> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    body: Buffer.concat(chunks).toString(),
  };
}

function send(outgoing: Outgoing, { status, headers = {}, body }: ProviderAnswer): void {
  outgoing.writeHead(
    status,
    body === undefined ? headers : { 'content-type': 'application/json', ...headers },
  );
  outgoing.end(body === undefined ? '' : JSON.stringify(body));
}

function http1Server(listener: Listener) {
  const server = createServer(listener);
  return {
    listen: (port: number) => listen(server, port),
    close: () => close(server, () => server.closeAllConnections()),
  };
}

function http2Server(listener: Listener) {
  const sessions = new Set<ServerHttp2Session>();
  const server = createHttp2Server({}, (incoming: Http2ServerRequest, outgoing: Http2ServerResponse) =>
    listener(incoming, {
      writeHead: (status, headers) => outgoing.writeHead(status, headers),
      write: (text, done) => outgoing.write(text, 'utf8', done),
      end: (text) => outgoing.end(text),
    }),
  );
  server.on('session', (session) => {
    sessions.add(session);
    // A session that the client cuts is no fault of the server's.
    session.on('error', () => undefined);
    session.once('close', () => sessions.delete(session));
  });
  return {
    listen: (port: number) => listen(server, port),
    close: () =>
      close(server, () => {
        for (const session of sessions) session.destroy();
      }),
  };
}

async function listen(server: Server, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no TCP address');
  return `http://127.0.0.1:${address.port}`;
}

const close = (server: Server, cutConnections: () => void): Promise<void> =>
  new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
    cutConnections();
  });
