import type { Clock, NewId } from '../../lambdas/core/clock.ts';
import { Bucket, type ObjectVersion, type Versioning } from './bucket.ts';
import { noSuchBucket, S3Error } from './errors.ts';

/** All buckets, as plain JSON; bodies in base64. */
export interface S3Snapshot {
  readonly buckets: readonly {
    readonly name: string;
    readonly createdAt: number;
    readonly versioning: Versioning;
    readonly versions: readonly VersionSnapshot[];
  }[];
}

type VersionSnapshot = Omit<ObjectVersion, 'object'> & {
  readonly object?: Omit<NonNullable<ObjectVersion['object']>, 'body'> & { readonly body: string };
};

/** The buckets of one account. */
export interface S3Store {
  readonly clock: Clock;
  readonly newId: NewId;
  /** @throws S3Error `NoSuchBucket`. */
  bucket(name: string): Bucket;
  buckets(): readonly Bucket[];
  /** Creates a bucket, or returns the one that is there. */
  createBucket(name: string, versioning?: Versioning): Bucket;
  deleteBucket(name: string): void;
  snapshot(): S3Snapshot;
  /** Replaces everything. */
  restore(snapshot: S3Snapshot): void;
}

/** Creates an empty store. */
export function createS3Store({ clock, newId }: { readonly clock: Clock; readonly newId: NewId }): S3Store {
  const buckets = new Map<string, Bucket>();

  const store: S3Store = {
    clock,
    newId,
    buckets: () => [...buckets.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    bucket(name) {
      const found = buckets.get(name);
      if (found === undefined) throw noSuchBucket(name);
      return found;
    },
    createBucket(name, versioning = 'Off') {
      if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name)) {
        throw new S3Error('InvalidBucketName', 400, 'The specified bucket is not valid.', {
          BucketName: name,
        });
      }
      const bucket = buckets.get(name) ?? new Bucket(name, clock.now(), versioning);
      buckets.set(name, bucket);
      return bucket;
    },
    deleteBucket(name) {
      if (!store.bucket(name).isEmpty()) {
        throw new S3Error('BucketNotEmpty', 409, 'The bucket you tried to delete is not empty', {
          BucketName: name,
        });
      }
      buckets.delete(name);
    },
    snapshot: () => ({
      buckets: store.buckets().map((bucket) => ({
        name: bucket.name,
        createdAt: bucket.createdAt,
        versioning: bucket.versioning,
        versions: bucket.versions().map(encode),
      })),
    }),
    restore(snapshot) {
      buckets.clear();
      for (const { name, createdAt, versioning, versions } of snapshot.buckets) {
        const bucket = new Bucket(name, createdAt, versioning);
        for (const version of versions.toReversed()) bucket.add(decode(version));
        buckets.set(name, bucket);
      }
    },
  };
  return store;
}

function encode({ object, ...version }: ObjectVersion): VersionSnapshot {
  if (object === undefined) return version;
  return { ...version, object: { ...object, body: Buffer.from(object.body).toString('base64') } };
}

function decode({ object, ...version }: VersionSnapshot): ObjectVersion {
  if (object === undefined) return version;
  return { ...version, object: { ...object, body: Buffer.from(object.body, 'base64') } };
}
