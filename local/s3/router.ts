import { type Dispatch, type EdgeRequest, type EdgeResponse, xmlResponse } from '../edge/http.ts';
import { describeCall } from '../edge/service-call.ts';
import {
  getBucketVersioning,
  listBuckets,
  listObjectsV2,
  listObjectVersions,
  putBucketVersioning,
} from './bucket-actions.ts';
import { accessDenied, notImplemented, S3Error } from './errors.ts';
import { deleteObject, deleteObjects, getObject, putObject } from './object-actions.ts';
import type { S3Store } from './store.ts';
import { xmlElement } from './xml.ts';

/** Parts of a bucket or object that are not kept; without this they would look like the whole. */
const UNSUPPORTED = [
  ...['accelerate', 'acl', 'attributes', 'cors', 'encryption', 'legal-hold', 'lifecycle', 'logging'],
  ...['notification', 'object-lock', 'ownershipControls', 'partNumber', 'policy', 'publicAccessBlock'],
  ...[
    'replication',
    'restore',
    'retention',
    'select',
    'tagging',
    'torrent',
    'uploadId',
    'uploads',
    'website',
  ],
];

/** One call, as a deny rule sees it. */
export interface S3Call {
  /** The API's name, e.g. `GetObject`. */
  readonly operation: string;
  readonly bucket: string;
  /** Empty for calls on a bucket. */
  readonly key: string;
}

export interface S3DispatchOptions {
  readonly store: S3Store;
  /** Answers `AccessDenied` to calls for which it says true. @default denies nothing */
  readonly deny?: (call: S3Call) => boolean;
}

/** Serves S3's REST API (path style) from a versioned store. */
export function createS3Dispatch({ store, deny }: S3DispatchOptions): Dispatch {
  return async (request) => {
    const [bucket = '', ...rest] = request.path.slice(1).split('/');
    const { operation } = describeCall(request);
    try {
      const call = { operation, bucket: decodeURIComponent(bucket), key: decodeURIComponent(rest.join('/')) };
      if (deny?.(call) === true) throw accessDenied();
      return route(store, call, request);
    } catch (error) {
      if (error instanceof S3Error) return errorResponse(error, request);
      throw error;
    }
  };
}

function route(
  store: S3Store,
  { operation, bucket: bucketName, key }: S3Call,
  request: EdgeRequest,
): EdgeResponse {
  const part = UNSUPPORTED.find((name) => request.query.has(name));
  if (part !== undefined) throw notImplemented(`the subresource ${part}`);
  if (operation === 'ListBuckets') return listBuckets(store);
  if (operation === 'CreateBucket') {
    store.createBucket(bucketName);
    return { status: 200, headers: { location: `/${bucketName}` }, body: '' };
  }
  const bucket = store.bucket(bucketName);
  const context = { store, bucket, key, request };
  switch (operation) {
    case 'HeadBucket':
      return { status: 200, headers: { 'x-amz-bucket-region': 'us-east-1' }, body: '' };
    case 'DeleteBucket':
      store.deleteBucket(bucketName);
      return { status: 204, headers: {}, body: '' };
    case 'GetBucketVersioning':
      return getBucketVersioning(bucket);
    case 'PutBucketVersioning':
      return putBucketVersioning(bucket, request);
    case 'ListObjectsV2':
      return listObjectsV2(bucket, request);
    case 'ListObjectVersions':
      return listObjectVersions(bucket, request);
    case 'DeleteObjects':
      return deleteObjects(context);
    case 'PutObject':
      if (request.method === 'POST' || request.query.has('uploadId'))
        throw notImplemented('multipart uploads');
      return putObject(context);
    case 'GetObject':
    case 'HeadObject':
      return getObject(context);
    case 'DeleteObject':
      return deleteObject(context);
    default:
      throw notImplemented(operation);
  }
}

/** HEAD has no body, so its errors show only as a status. */
function errorResponse(
  { code, status, message, details, headers }: S3Error,
  { method }: EdgeRequest,
): EdgeResponse {
  if (method === 'HEAD') return { status, headers, body: '' };
  return xmlResponse(status, xmlElement('Error', { Code: code, Message: message, ...details }), headers);
}
