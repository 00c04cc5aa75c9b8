import { createHash, createHmac } from 'node:crypto';

/** A request as it arrived, or would. */
export interface ArrivedRequest {
  readonly method: string;
  /** As it was sent: not decoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const sha256 = (data: Uint8Array | string): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: Uint8Array | string, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/** Checks a request's signature (version 4) as AWS does. @returns what is wrong with it, or the service it is for */
export function checkSignature(request: ArrivedRequest, secretAccessKey: string): string {
  const { method, path, query, headers, body } = request;
  const parts =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/(\d{8})\/([\w-]+)\/([\w-]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w{64})$/.exec(
      headers.authorization ?? '',
    );
  if (parts === null) return `no authorization of version 4 for ${method} ${path}`;
  const [, date = '', region = '', service = '', names = '', signature] = parts;
  if (!names.split(';').includes('host')) return `${service}: the host is not signed`;
  const payload = headers['x-amz-content-sha256'] ?? sha256(body);
  if (payload !== sha256(body)) return `${service}: the body is another than the one signed`;
  const canonical = [
    method,
    // All services but S3 encode a path once more.
    service === 's3' ? path : path.split('/').map(encode).join('/'),
    [...query]
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .sort()
      .join('&'),
    ...names.split(';').map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}`),
    '',
    names,
    payload,
  ].join('\n');
  const scope = `${date}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = [region, service, 'aws4_request'].reduce(hmac, hmac(`AWS4${secretAccessKey}`, date));
  return hmac(key, text).toString('hex') === signature ? service : `${service}: the signature does not fit`;
}
