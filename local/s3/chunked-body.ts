import { S3Error } from './errors.ts';

/** A body without the framing of `aws-chunked`, and the headers that came behind it. */
export interface DecodedBody {
  readonly body: Uint8Array;
  readonly trailers: Readonly<Record<string, string>>;
}

/**
 * Takes `aws-chunked` framing off a body: chunks of `<hex size>[;signature]`, then trailing headers.
 *
 * @throws S3Error `IncompleteBody` when the framing breaks off.
 */
export function decodeChunkedBody(framed: Uint8Array): DecodedBody {
  const bytes = Buffer.from(framed.buffer, framed.byteOffset, framed.byteLength);
  const chunks: Buffer[] = [];
  let offset = 0;

  function line(): string {
    const end = bytes.indexOf('\r\n', offset);
    if (end < 0) throw incomplete();
    const text = bytes.toString('utf8', offset, end);
    offset = end + 2;
    return text;
  }

  for (;;) {
    const size = Number.parseInt(line().split(';')[0] ?? '', 16);
    if (!Number.isInteger(size) || offset + size > bytes.length) throw incomplete();
    if (size === 0) break;
    chunks.push(bytes.subarray(offset, offset + size));
    offset += size + 2;
  }
  const trailers: Record<string, string> = {};
  while (offset < bytes.length) {
    const [name = '', ...value] = line().split(':');
    if (name !== '') trailers[name.toLowerCase()] = value.join(':').trim();
  }
  return { body: Buffer.concat(chunks), trailers };
}

function incomplete(): S3Error {
  return new S3Error('IncompleteBody', 400, 'The body ends before its last chunk.');
}
