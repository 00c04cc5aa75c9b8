import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { S3ClientResolvedConfig } from '@aws-sdk/client-s3';
import { SignatureV4 } from '@smithy/signature-v4';
import { ConfigurationError } from '../core/errors.ts';
import type { Environment } from './env.ts';

/** Services whose few calls are written out here, because their clients are up to a quarter of a bundle each. */
type SignedService = 'lambda' | 's3' | 'secretsmanager';

const ENDPOINT_NAMES: Readonly<Record<SignedService, string>> = {
  lambda: 'LAMBDA',
  s3: 'S3',
  secretsmanager: 'SECRETS_MANAGER',
};

/** What a call is sent with. Any SDK client with an endpoint of its own has it, and what {@link beside} makes. */
export interface SignedClient {
  readonly config: Pick<
    S3ClientResolvedConfig,
    'credentials' | 'endpoint' | 'region' | 'requestHandler' | 'sha256' | 'streamCollector'
  >;
}

/** One call of a REST API. */
export interface SignedCall {
  readonly service: SignedService;
  /** The API's name of the call. */
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Stands before the service's own host name, if it may. */
  readonly bucket?: string;
  /** Its segments are encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** A service's answer of status 2xx. */
export interface SignedAnswer {
  readonly headers: Readonly<Record<string, string>>;
  bytes(): Promise<Uint8Array>;
}

/** A service's refusal, named and shaped as the SDK's errors are. */
class ServiceError extends Error {
  override readonly name: string;
  readonly $metadata: { readonly httpStatusCode: number };

  constructor({ service, operation }: SignedCall, code: string, httpStatusCode: number) {
    super(`${service} ${operation}: HTTP ${httpStatusCode} ${code}`);
    this.name = code;
    this.$metadata = { httpStatusCode };
  }
}

/**
 * Region, credentials and connections of a client at hand, for calls of another service. `AWS_ENDPOINT_URL` and
 * `AWS_ENDPOINT_URL_<SERVICE>` are obeyed as the SDK does, FIPS endpoints too; dual-stack ones are not asked for.
 */
export function beside({ config }: DynamoDBClient, service: SignedService, env: Environment): SignedClient {
  const { credentials, region, requestHandler, sha256, streamCollector } = config;
  const own = env[`AWS_ENDPOINT_URL_${ENDPOINT_NAMES[service]}`] ?? env.AWS_ENDPOINT_URL ?? '';
  const endpoint = async () => {
    if (own !== '') return endpointOf(new URL(own));
    const [Region, UseFIPS] = await Promise.all([region(), config.useFipsEndpoint()]);
    // The Region's domain, in whatever partition it is.
    const { url } = config.endpointProvider({ Region, UseFIPS, UseDualStack: false });
    return endpointOf(new URL(url.href.replace('//dynamodb', `//${service}`)));
  };
  return { config: { credentials, endpoint, region, requestHandler, sha256, streamCollector } };
}

const endpointOf = ({ protocol, hostname, port, pathname }: URL) => ({
  protocol,
  hostname,
  ...(port === '' ? {} : { port: Number(port) }),
  path: pathname,
});

/** Encodes one segment of a path as signatures want it. */
export const encodeSegment = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * Sends one signed request, once.
 * @throws an Error with the service's code as its name, or whatever the connection threw
 */
export async function callSigned({ config }: SignedClient, call: SignedCall): Promise<SignedAnswer> {
  const { credentials, region, requestHandler, sha256, streamCollector } = config;
  const { service, method, query = {}, body } = call;
  if (config.endpoint === undefined) throw new ConfigurationError(`There is no endpoint of ${service}`);
  const signer = new SignatureV4({ service, credentials, region, sha256, uriEscapePath: service !== 's3' });
  const { path, hostname, port, protocol } = placeOf(call, await config.endpoint());
  const request = await signer.sign({
    method,
    protocol,
    hostname,
    ...(port === undefined ? {} : { port }),
    path,
    query,
    headers: {
      ...call.headers,
      host: port === undefined ? hostname : `${hostname}:${port}`,
      ...(body === undefined ? {} : { 'content-length': String(body.byteLength) }),
    },
    ...(body === undefined ? {} : { body }),
  });
  const { response } = await requestHandler.handle(request);
  const { statusCode, headers, body: stream } = response;
  const bytes = async () => (stream instanceof Uint8Array ? stream : streamCollector(stream));
  if (statusCode >= 200 && statusCode < 300) return { headers, bytes };
  throw new ServiceError(call, codeOf(headers, await bytes()) ?? `HTTP_${statusCode}`, statusCode);
}

/** A bucket is part of the host's name, unless the endpoint is a given one or its certificate would not fit. */
function placeOf({ bucket, path }: SignedCall, endpoint: ReturnType<typeof endpointOf>) {
  const base = endpoint.path.replace(/\/$/, '');
  if (bucket === undefined) return { ...endpoint, path: `${base}${path}` };
  if (/^s3[.-].*\.amazonaws\./.test(endpoint.hostname) && !bucket.includes('.')) {
    return { ...endpoint, hostname: `${bucket}.${endpoint.hostname}`, path: `${base}${path}` };
  }
  return { ...endpoint, path: `${base}/${encodeSegment(bucket)}${path}` };
}

/** Lambda names its errors in a header, S3 in XML, Secrets Manager in JSON. */
function codeOf(headers: Readonly<Record<string, string>>, body: Uint8Array): string | undefined {
  const [code] = (headers['x-amzn-errortype'] ?? '').split(':');
  return code || /(?:<Code>|"__type":\s*"(?:[\w.]+#)?)(\w+)/.exec(new TextDecoder().decode(body))?.[1];
}
