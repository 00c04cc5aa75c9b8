import { createHash } from 'node:crypto';
import { type EdgeRequest, type EdgeResponse, xmlResponse } from '../edge/http.ts';
import type { Bucket, ObjectVersion } from './bucket.ts';
import { invalidArgument, S3Error } from './errors.ts';
import type { S3Store } from './store.ts';
import { type XmlNode, xmlElement, xmlTexts } from './xml.ts';

const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';
const MAX_KEYS = 1_000;

/** Every stored object belongs to this one. */
const OWNER = { ID: createHash('sha256').update('local').digest('hex'), DisplayName: 'local' };

export function listBuckets(store: S3Store): EdgeResponse {
  const Bucket = store.buckets().map(({ name, createdAt }) => ({ Name: name, CreationDate: iso(createdAt) }));
  return xmlResponse(
    200,
    xmlElement('ListAllMyBucketsResult', { Owner: OWNER, Buckets: { Bucket } }, NAMESPACE),
  );
}

export function getBucketVersioning({ versioning }: Bucket): EdgeResponse {
  const content: XmlNode = versioning === 'Off' ? {} : { Status: versioning };
  return xmlResponse(200, xmlElement('VersioningConfiguration', content, NAMESPACE));
}

export function putBucketVersioning(bucket: Bucket, request: EdgeRequest): EdgeResponse {
  const [status] = xmlTexts(Buffer.from(request.body).toString(), 'Status');
  if (status !== 'Enabled' && status !== 'Suspended') {
    throw new S3Error('MalformedXML', 400, 'The versioning Status must be Enabled or Suspended.');
  }
  bucket.versioning = status;
  return { status: 200, headers: {}, body: '' };
}

/** What a list's page shows, and where the next one begins. */
interface Page<T> {
  readonly items: readonly T[];
  readonly prefixes: readonly string[];
  readonly truncated: boolean;
}

/** Cuts out a page: items by prefix, those behind a delimiter rolled up, at most `max-keys` of both. */
function paged<T extends { readonly key: string }>(items: readonly T[], query: URLSearchParams): Page<T> {
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const max = maxKeys(query);
  const page: T[] = [];
  const prefixes: string[] = [];
  for (const item of items) {
    if (!item.key.startsWith(prefix)) continue;
    const cut = delimiter === '' ? -1 : item.key.indexOf(delimiter, prefix.length);
    const rolledUp = cut < 0 ? undefined : item.key.slice(0, cut + delimiter.length);
    if (rolledUp !== undefined && prefixes.includes(rolledUp)) continue;
    if (page.length + prefixes.length >= max) return { items: page, prefixes, truncated: max > 0 };
    if (rolledUp === undefined) page.push(item);
    else prefixes.push(rolledUp);
  }
  return { items: page, prefixes, truncated: false };
}

function maxKeys(query: URLSearchParams): number {
  const given = query.get('max-keys');
  if (given === null) return MAX_KEYS;
  if (!/^\d+$/.test(given)) throw invalidArgument('max-keys is not a number', 'max-keys', given);
  return Math.min(MAX_KEYS, Number(given));
}

/** `encoding-type=url`, which SDKs ask for, so that any key survives XML. */
function encoder(query: URLSearchParams): (text: string) => string {
  if (query.get('encoding-type') !== 'url') return (text) => text;
  return (text) => encodeURIComponent(text).replaceAll('%2F', '/');
}

export function listObjectsV2(bucket: Bucket, { query }: EdgeRequest): EdgeResponse {
  const token = query.get('continuation-token');
  const after =
    token === null ? (query.get('start-after') ?? '') : Buffer.from(token, 'base64url').toString();
  const newest = newestVersions(bucket).filter(({ key }) => isAfter(key, after));
  const { items, prefixes, truncated } = paged(newest, query);
  const encode = encoder(query);
  const last = lastOf([...items.map(({ key }) => key), ...prefixes]);
  return xmlResponse(
    200,
    xmlElement(
      'ListBucketResult',
      {
        Name: bucket.name,
        Prefix: encode(query.get('prefix') ?? ''),
        Delimiter: query.get('delimiter') ?? undefined,
        MaxKeys: maxKeys(query),
        KeyCount: items.length + prefixes.length,
        IsTruncated: truncated,
        EncodingType: query.get('encoding-type') ?? undefined,
        StartAfter: query.get('start-after') ?? undefined,
        ContinuationToken: token ?? undefined,
        NextContinuationToken: truncated ? Buffer.from(last).toString('base64url') : undefined,
        Contents: items.map((version) => ({ Key: encode(version.key), ...shape(version) })),
        CommonPrefixes: prefixes.map((prefix) => ({ Prefix: encode(prefix) })),
      },
      NAMESPACE,
    ),
  );
}

export function listObjectVersions(bucket: Bucket, { query }: EdgeRequest): EdgeResponse {
  const keyMarker = query.get('key-marker') ?? '';
  const versionMarker = query.get('version-id-marker');
  const all = bucket.versions();
  const marked = all.findIndex(({ key, versionId }) => key === keyMarker && versionId === versionMarker);
  const rest = marked < 0 ? all.filter(({ key }) => isAfter(key, keyMarker)) : all.slice(marked + 1);
  const newest = new Set(newestPerKey(all));
  const { items, prefixes, truncated } = paged(rest, query);
  const encode = encoder(query);
  const last = items.at(-1);
  const entry = (version: ObjectVersion) => ({
    Key: encode(version.key),
    VersionId: version.versionId,
    IsLatest: newest.has(version),
  });
  return xmlResponse(
    200,
    xmlElement(
      'ListVersionsResult',
      {
        Name: bucket.name,
        Prefix: encode(query.get('prefix') ?? ''),
        KeyMarker: encode(keyMarker),
        VersionIdMarker: versionMarker ?? '',
        Delimiter: query.get('delimiter') ?? undefined,
        MaxKeys: maxKeys(query),
        EncodingType: query.get('encoding-type') ?? undefined,
        IsTruncated: truncated,
        NextKeyMarker: truncated ? encode(lastOf([last?.key ?? '', ...prefixes])) : undefined,
        NextVersionIdMarker: truncated ? last?.versionId : undefined,
        Version: items
          .filter(({ object }) => object !== undefined)
          .map((version) => ({ ...entry(version), ...shape(version), Owner: OWNER })),
        DeleteMarker: items
          .filter(({ object }) => object === undefined)
          .map((version) => ({ ...entry(version), LastModified: iso(version.modifiedAt), Owner: OWNER })),
        CommonPrefixes: prefixes.map((prefix) => ({ Prefix: encode(prefix) })),
      },
      NAMESPACE,
    ),
  );
}

function newestPerKey(versions: readonly ObjectVersion[]): readonly ObjectVersion[] {
  return versions.filter(({ key }, index) => versions[index - 1]?.key !== key);
}

function newestVersions(bucket: Bucket): readonly ObjectVersion[] {
  return newestPerKey(bucket.versions()).filter(({ object }) => object !== undefined);
}

function shape({ modifiedAt, object }: ObjectVersion): XmlNode {
  return {
    LastModified: iso(modifiedAt),
    ETag: object?.etag,
    Size: object?.body.byteLength,
    StorageClass: 'STANDARD',
  };
}

function isAfter(key: string, marker: string): boolean {
  return Buffer.compare(Buffer.from(key), Buffer.from(marker)) > 0;
}

function lastOf(keys: readonly string[]): string {
  return keys.reduce((last, key) => (isAfter(key, last) ? key : last), '');
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
