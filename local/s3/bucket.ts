import type { NewId } from '../../lambdas/core/clock.ts';
import type { Checksum } from './checksum.ts';
import { noSuchKey, noSuchVersion } from './errors.ts';

export type Versioning = 'Off' | 'Enabled' | 'Suspended';

/** The version that unversioned writes make, and replace. */
const NULL_VERSION = 'null';

/** One version of an object, or a delete marker. */
export interface ObjectVersion {
  readonly key: string;
  readonly versionId: string;
  /** Epoch milliseconds. */
  readonly modifiedAt: number;
  /** Absent: a delete marker. */
  readonly object?: StoredObject;
}

export interface StoredObject {
  readonly body: Uint8Array;
  readonly etag: string;
  /** Headers that come back with the object: content type, metadata and so on. */
  readonly headers: Readonly<Record<string, string>>;
  readonly checksum?: Checksum;
}

/** A bucket's versions, newest first for each key. */
export class Bucket {
  readonly name: string;
  readonly createdAt: number;
  versioning: Versioning;
  readonly #keys = new Map<string, ObjectVersion[]>();

  constructor(name: string, createdAt: number, versioning: Versioning) {
    this.name = name;
    this.createdAt = createdAt;
    this.versioning = versioning;
  }

  /** Adds a version; without versioning it takes the place of the last one. */
  put(key: string, object: StoredObject, now: number, newId: NewId): ObjectVersion {
    return this.add({ key, versionId: this.#nextVersionId(newId), modifiedAt: now, object });
  }

  add(version: ObjectVersion): ObjectVersion {
    const others = this.#versions(version.key).filter(({ versionId }) => versionId !== version.versionId);
    this.#keys.set(version.key, [version, ...others]);
    return version;
  }

  /**
   * The newest version, or the one asked for.
   *
   * @throws S3Error `NoSuchKey` or `NoSuchVersion`; a delete marker is no object.
   */
  get(key: string, versionId: string | undefined): ObjectVersion & { readonly object: StoredObject } {
    const versions = this.#versions(key);
    const found =
      versionId === undefined ? versions[0] : versions.find((each) => each.versionId === versionId);
    if (found === undefined) throw versionId === undefined ? noSuchKey(key) : noSuchVersion(key, versionId);
    const { object } = found;
    if (object === undefined) {
      throw noSuchKey(key, { 'x-amz-delete-marker': 'true', 'x-amz-version-id': found.versionId });
    }
    return { ...found, object };
  }

  /** The newest version that is an object, if the key has one. */
  current(key: string): ObjectVersion | undefined {
    const newest = this.#versions(key)[0];
    return newest?.object === undefined ? undefined : newest;
  }

  /** Removes a version for good, or puts a delete marker over the newest one; returns what came or went. */
  delete(key: string, versionId: string | undefined, now: number, newId: NewId): ObjectVersion | undefined {
    if (versionId === undefined && this.versioning !== 'Off') {
      return this.add({ key, versionId: this.#nextVersionId(newId), modifiedAt: now });
    }
    const versions = this.#versions(key);
    const gone = versions.find((each) => each.versionId === (versionId ?? NULL_VERSION));
    this.#keys.set(
      key,
      versions.filter((each) => each !== gone),
    );
    return versionId === undefined ? undefined : gone;
  }

  /** Every version, by key in UTF-8 order, the newest first. */
  versions(): readonly ObjectVersion[] {
    return [...this.#keys.keys()]
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .flatMap((key) => this.#versions(key));
  }

  isEmpty(): boolean {
    return [...this.#keys.values()].every(({ length }) => length === 0);
  }

  #versions(key: string): readonly ObjectVersion[] {
    return this.#keys.get(key) ?? [];
  }

  #nextVersionId(newId: NewId): string {
    return this.versioning === 'Enabled' ? newId().replaceAll('-', '') : NULL_VERSION;
  }
}
