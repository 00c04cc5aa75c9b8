import { createServer, type IncomingMessage } from 'node:http';

export interface StackServer {
  /** For `AWS_ENDPOINT_URL`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * A loopback endpoint that knows one CloudFormation stack, and passes every other request on: what the tools that take
 * `--stack` see of an account.
 */
export async function startStackServer(options: {
  readonly stack: string;
  /** The stack's outputs, by name, when the server's own URL is known. */
  readonly outputs: (url: string) => Readonly<Record<string, string>>;
  /** Where other requests go. @default they are answered 404 */
  readonly forwardTo?: string;
}): Promise<StackServer> {
  let url = '';
  const server = createServer(async (request, response) => {
    const body = await read(request);
    const query = new URLSearchParams(body.toString('utf8'));
    if (query.get('Action') === 'DescribeStacks') {
      const known = query.get('StackName') === options.stack;
      response.writeHead(known ? 200 : 400, { 'content-type': 'text/xml' });
      response.end(known ? stackXml(options.stack, options.outputs(url)) : unknownStackXml());
      return;
    }
    if (options.forwardTo === undefined) {
      response.writeHead(404).end();
      return;
    }
    const { host: _, connection: _c, 'content-length': _l, ...headers } = request.headers;
    const answer = await fetch(new URL(request.url ?? '/', options.forwardTo), {
      method: request.method ?? 'POST',
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      ...(body.byteLength === 0 ? {} : { body }),
    });
    response.writeHead(answer.status, {
      'content-type': answer.headers.get('content-type') ?? 'application/json',
    });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  url = `http://127.0.0.1:${address.port}`;
  return {
    url,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const xmlOf = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

function stackXml(stack: string, outputs: Readonly<Record<string, string>>): string {
  const members = Object.entries(outputs).map(
    ([key, value]) =>
      `<member><OutputKey>${xmlOf(key)}</OutputKey><OutputValue>${xmlOf(value)}</OutputValue></member>`,
  );
  return [
    '<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks>',
    `<member><StackName>${xmlOf(stack)}</StackName><StackStatus>CREATE_COMPLETE</StackStatus>`,
    `<CreationTime>2026-01-01T00:00:00Z</CreationTime><Outputs>${members.join('')}</Outputs></member>`,
    '</Stacks></DescribeStacksResult></DescribeStacksResponse>',
  ].join('');
}

const unknownStackXml = (): string =>
  '<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack does not exist</Message></Error></ErrorResponse>';
