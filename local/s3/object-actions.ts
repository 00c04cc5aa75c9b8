import { createHash } from 'node:crypto';
import { type EdgeRequest, type EdgeResponse, xmlResponse } from '../edge/http.ts';
import type { Bucket, ObjectVersion, StoredObject } from './bucket.ts';
import { checkBody } from './checksum.ts';
import { decodeChunkedBody } from './chunked-body.ts';
import { invalidArgument, noSuchKey, preconditionFailed, S3Error } from './errors.ts';
import type { S3Store } from './store.ts';
import { xmlElement, xmlSections, xmlTexts } from './xml.ts';

/** Headers that are kept with an object and come back with it. */
const KEPT_HEADER =
  /^(content-(type|disposition|language)|cache-control|expires|x-amz-meta-.+|x-amz-server-side-encryption(-.+)?)$/;

export interface ObjectContext {
  readonly store: S3Store;
  readonly bucket: Bucket;
  readonly key: string;
  readonly request: EdgeRequest;
}

const MAX_KEY_BYTES = 1_024;

export function putObject({ store, bucket, key, request }: ObjectContext): EdgeResponse {
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) {
    throw new S3Error('KeyTooLongError', 400, 'Your key is too long', {
      MaxSizeAllowed: String(MAX_KEY_BYTES),
    });
  }
  checkConditions(request, bucket.current(key), key);
  const chunked = request.headers['x-amz-content-sha256']?.startsWith('STREAMING-') === true;
  const { body, trailers } = chunked ? decodeChunkedBody(request.body) : { body: request.body, trailers: {} };
  const checksum = checkBody({ ...request.headers, ...trailers }, body);
  const object: StoredObject = {
    body,
    etag: `"${createHash('md5').update(body).digest('hex')}"`,
    headers: keptHeaders(request.headers),
    ...(checksum === undefined ? {} : { checksum }),
  };
  const version = bucket.put(key, object, store.clock.now(), store.newId);
  return {
    status: 200,
    headers: {
      etag: object.etag,
      ...versionHeader(bucket, version),
      ...(checksum === undefined ? {} : { [checksum.header]: checksum.value }),
    },
    body: '',
  };
}

/** `If-None-Match: *` writes only a new key; `If-Match` only over that very content. */
function checkConditions({ headers }: EdgeRequest, current: ObjectVersion | undefined, key: string): void {
  const ifNoneMatch = headers['if-none-match'];
  if (ifNoneMatch !== undefined && ifNoneMatch !== '*') {
    throw invalidArgument('If-None-Match takes only *', 'If-None-Match', ifNoneMatch);
  }
  if (ifNoneMatch === '*' && current !== undefined) throw preconditionFailed('If-None-Match');
  const ifMatch = headers['if-match'];
  if (ifMatch === undefined) return;
  if (current === undefined) throw noSuchKey(key);
  if (unquoted(ifMatch) !== unquoted(current.object?.etag ?? '')) throw preconditionFailed('If-Match');
}

function unquoted(etag: string): string {
  return etag.replaceAll('"', '');
}

function keptHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => KEPT_HEADER.test(name)));
  const encoding = (headers['content-encoding'] ?? '').split(',').map((each) => each.trim());
  const real = encoding.filter((each) => each !== '' && each !== 'aws-chunked').join(', ');
  return {
    'content-type': 'binary/octet-stream',
    'x-amz-server-side-encryption': 'AES256',
    ...kept,
    ...(real === '' ? {} : { 'content-encoding': real }),
  };
}

/** GetObject, and HeadObject, whose body is left away. */
export function getObject({ bucket, key, request }: ObjectContext): EdgeResponse {
  const version = bucket.get(key, request.query.get('versionId') ?? undefined);
  const { body, etag, headers, checksum } = version.object;
  const ifMatch = request.headers['if-match'];
  if (ifMatch !== undefined && unquoted(ifMatch) !== unquoted(etag)) throw preconditionFailed('If-Match');
  const ifNoneMatch = request.headers['if-none-match'];
  const common = {
    etag,
    'last-modified': new Date(version.modifiedAt).toUTCString(),
    ...versionHeader(bucket, version),
  };
  if (ifNoneMatch !== undefined && unquoted(ifNoneMatch) === unquoted(etag)) {
    return { status: 304, headers: common, body: '' };
  }
  const range = parseRange(request.headers.range, body.byteLength);
  const part = range === undefined ? body : body.subarray(range.start, range.end + 1);
  // The checksum is of the whole object and would not match a part.
  const asked = request.headers['x-amz-checksum-mode'] === 'ENABLED' && range === undefined;
  return {
    status: range === undefined ? 200 : 206,
    headers: {
      ...headers,
      ...common,
      'accept-ranges': 'bytes',
      'content-length': String(part.byteLength),
      ...(range === undefined
        ? {}
        : { 'content-range': `bytes ${range.start}-${range.end}/${body.byteLength}` }),
      ...(checksum === undefined || !asked
        ? {}
        : { [checksum.header]: checksum.value, 'x-amz-checksum-type': 'FULL_OBJECT' }),
    },
    body: request.method === 'HEAD' ? '' : part,
  };
}

function parseRange(
  header: string | undefined,
  size: number,
): { readonly start: number; readonly end: number } | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (match === null || match[0] === 'bytes=-') return undefined;
  const [, from = '', to = ''] = match;
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (start > end) {
    throw new S3Error('InvalidRange', 416, 'The requested range is not satisfiable', {
      RangeRequested: header ?? '',
      ActualObjectSize: String(size),
    });
  }
  return { start, end };
}

export function deleteObject({ store, bucket, key, request }: ObjectContext): EdgeResponse {
  const versionId = request.query.get('versionId') ?? undefined;
  const version = bucket.delete(key, versionId, store.clock.now(), store.newId);
  return {
    status: 204,
    headers: {
      ...(version === undefined ? {} : versionHeader(bucket, version)),
      ...(version !== undefined && version.object === undefined ? { 'x-amz-delete-marker': 'true' } : {}),
    },
    body: '',
  };
}

/** DeleteObjects: a batch; what wasn't there counts as deleted. */
export function deleteObjects({ store, bucket, request }: Omit<ObjectContext, 'key'>): EdgeResponse {
  const xml = Buffer.from(request.body).toString();
  const Deleted = xmlSections(xml, 'Object').map((section) => {
    const [key = ''] = xmlTexts(section, 'Key');
    const [versionId] = xmlTexts(section, 'VersionId');
    const version = bucket.delete(key, versionId, store.clock.now(), store.newId);
    const marker = version !== undefined && version.object === undefined;
    return {
      Key: key,
      VersionId: versionId,
      DeleteMarker: marker ? true : undefined,
      DeleteMarkerVersionId: marker ? version.versionId : undefined,
    };
  });
  const quiet = xmlTexts(xml, 'Quiet')[0] === 'true';
  return xmlResponse(200, xmlElement('DeleteResult', quiet ? {} : { Deleted }));
}

function versionHeader(bucket: Bucket, { versionId }: ObjectVersion): Record<string, string> {
  return bucket.versioning === 'Off' ? {} : { 'x-amz-version-id': versionId };
}
