import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketVersioningCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, it } from 'vitest';
import { Bucket, setUp } from './s3-setup.ts';

let s3: ReturnType<typeof setUp>;

beforeEach(() => {
  s3 = setUp();
  s3.store.createBucket(Bucket, 'Enabled');
});

describe('S3 versions', () => {
  it('keeps every version, and gives the newest or the one asked for', async () => {
    const first = await s3.put('k', 'one');
    const second = await s3.put('k', 'two');

    expect(first.VersionId).not.toBe(second.VersionId);
    expect(await s3.get('k')).toMatchObject({ VersionId: second.VersionId });
    expect(await s3.text('k', { VersionId: first.VersionId })).toBe('one');
    expect(await s3.text('k')).toBe('two');
  });

  it('does not know a version that was never written', async () => {
    await s3.put('k', 'one');

    await expect(s3.get('k', { VersionId: 'made-up' })).rejects.toMatchObject({
      name: 'NoSuchVersion',
      VersionId: 'made-up',
    });
  });

  it('hides a deleted object behind a marker, and shows it again without', async () => {
    const { VersionId } = await s3.put('k', 'one');
    const marker = await s3.remove('k');

    expect(marker.DeleteMarker).toBe(true);
    await expect(s3.get('k')).rejects.toMatchObject({ name: 'NoSuchKey' });
    expect(await s3.text('k', { VersionId })).toBe('one');
    expect(await s3.remove('k', marker.VersionId)).toMatchObject({ DeleteMarker: true });
    expect(await s3.text('k')).toBe('one');
  });

  it('removes one version for good', async () => {
    const first = await s3.put('k', 'one');
    const second = await s3.put('k', 'two');

    await s3.remove('k', second.VersionId);

    expect(await s3.text('k')).toBe('one');
    await expect(s3.get('k', { VersionId: second.VersionId })).rejects.toMatchObject({
      name: 'NoSuchVersion',
    });
    expect(await s3.text('k', { VersionId: first.VersionId })).toBe('one');
  });

  it('keeps none in a bucket without versioning', async () => {
    s3.store.createBucket('plain');
    const put = (Body: string) => s3.client.send(new PutObjectCommand({ Bucket: 'plain', Key: 'k', Body }));
    const first = await put('one');
    await put('two');
    const versions = await s3.client.send(new ListObjectVersionsCommand({ Bucket: 'plain' }));

    expect(first.VersionId).toBeUndefined();
    expect(versions.Versions?.map(({ VersionId }) => VersionId)).toEqual(['null']);
    await s3.client.send(new DeleteObjectCommand({ Bucket: 'plain', Key: 'k' }));
    expect(
      (await s3.client.send(new ListObjectVersionsCommand({ Bucket: 'plain' }))).Versions,
    ).toBeUndefined();
  });

  it('overwrites only the null version while versioning is suspended', async () => {
    const first = await s3.put('k', 'one');
    await s3.client.send(
      new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Suspended' } }),
    );
    await s3.put('k', 'two');
    await s3.put('k', 'three');

    const { Versions = [] } = await s3.client.send(new ListObjectVersionsCommand({ Bucket }));

    expect(Versions.map(({ VersionId }) => VersionId)).toEqual(['null', first.VersionId]);
    expect(await s3.text('k')).toBe('three');
    expect((await s3.client.send(new GetBucketVersioningCommand({ Bucket }))).Status).toBe('Suspended');
  });
});

describe('S3 lists', () => {
  it('lists keys in order, by prefix, delimiter and page', async () => {
    for (const key of ['b', 'a/2', 'a/1', 'a/x/1', 'a/x/2', 'c ü&']) await s3.put(key, key);
    await s3.put('gone', 'x');
    await s3.remove('gone');
    const list = (input: object) => s3.client.send(new ListObjectsV2Command({ Bucket, ...input }));

    const all = await list({});
    expect(all.Contents?.map(({ Key }) => Key)).toEqual(['a/1', 'a/2', 'a/x/1', 'a/x/2', 'b', 'c ü&']);
    expect(all.Contents?.[0]).toMatchObject({ Size: 3, LastModified: new Date(s3.clock.now()) });
    const folder = await list({ Prefix: 'a/', Delimiter: '/' });
    expect(folder.Contents?.map(({ Key }) => Key)).toEqual(['a/1', 'a/2']);
    expect(folder.CommonPrefixes).toEqual([{ Prefix: 'a/x/' }]);
    const first = await list({ MaxKeys: 4 });
    expect(first).toMatchObject({ IsTruncated: true, KeyCount: 4 });
    const second = await list({ MaxKeys: 4, ContinuationToken: first.NextContinuationToken });
    expect(second.Contents?.map(({ Key }) => Key)).toEqual(['b', 'c ü&']);
    expect(second.IsTruncated).toBe(false);
  });

  it('lists versions and markers, the newest first, by page', async () => {
    const first = await s3.put('a', 'one');
    const marker = await s3.remove('a');
    const last = await s3.put('b', 'two');
    const list = (input: object) => s3.client.send(new ListObjectVersionsCommand({ Bucket, ...input }));

    const all = await list({});
    expect(all.Versions).toMatchObject([
      { Key: 'a', VersionId: first.VersionId, IsLatest: false, Size: 3 },
      { Key: 'b', VersionId: last.VersionId, IsLatest: true },
    ]);
    expect(all.DeleteMarkers).toMatchObject([{ Key: 'a', VersionId: marker.VersionId, IsLatest: true }]);
    const page = await list({ MaxKeys: 1 });
    expect(page.IsTruncated).toBe(true);
    const next = await list({ KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker });
    expect(next.Versions?.map(({ VersionId }) => VersionId)).toEqual([first.VersionId, last.VersionId]);
  });

  it('deletes in batches', async () => {
    await s3.put('a&b', '1');
    const { VersionId } = await s3.put('c', '2');

    const { Deleted } = await s3.client.send(
      new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'a&b' }, { Key: 'c', VersionId }] } }),
    );

    expect(Deleted).toMatchObject([
      { Key: 'a&b', DeleteMarker: true },
      { Key: 'c', VersionId },
    ]);
    expect((await s3.client.send(new ListObjectsV2Command({ Bucket }))).KeyCount).toBe(0);
  });
});
