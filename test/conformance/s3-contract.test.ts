import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  ChecksumAlgorithm,
  CreateBucketCommand,
  DeleteBucketCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, it } from 'vitest';
import { listenOnLoopback } from '../../local/edge/http-server.ts';
import { Bucket, setUp } from './s3-setup.ts';

let s3: ReturnType<typeof setUp>;

beforeEach(() => {
  s3 = setUp();
  s3.store.createBucket(Bucket, 'Enabled');
});

describe('S3 objects', () => {
  it('gives back content, type, metadata and digest', async () => {
    const body = Buffer.from('{"a":"ü"}');
    const { ETag } = await s3.put('a/b c+ü.json', body, {
      ContentType: 'application/json',
      ContentEncoding: 'identity',
      Metadata: { origin: 'starter' },
    });

    const got = await s3.get('a/b c+ü.json');

    expect(await got.Body?.transformToString()).toBe('{"a":"ü"}');
    expect(got).toMatchObject({
      ContentType: 'application/json',
      ContentEncoding: 'identity',
      ContentLength: body.byteLength,
      Metadata: { origin: 'starter' },
      ETag,
      LastModified: new Date(s3.clock.now()),
    });
    expect(ETag).toBe(`"${createHash('md5').update(body).digest('hex')}"`);
  });

  it('tells about an object without its content', async () => {
    await s3.put('k', 'hello');

    const head = await s3.client.send(new HeadObjectCommand({ Bucket, Key: 'k' }));

    expect(head).toMatchObject({ ContentLength: 5, ETag: '"5d41402abc4b2a76b9719d911017c592"' });
  });

  it('gives a part when asked for a range', async () => {
    await s3.put('k', '0123456789');

    const part = await s3.get('k', { Range: 'bytes=2-4' });

    expect(await part.Body?.transformToString()).toBe('234');
    expect(part.ContentRange).toBe('bytes 2-4/10');
    expect(await s3.text('k', { Range: 'bytes=-3' })).toBe('789');
    await expect(s3.get('k', { Range: 'bytes=10-' })).rejects.toMatchObject({ name: 'InvalidRange' });
  });

  it('takes a stream', async () => {
    await s3.put('k', Readable.from([Buffer.from('one '), Buffer.from('two')]), { ContentLength: 7 });

    expect(await s3.text('k')).toBe('one two');
  });

  it('writes only a new key under If-None-Match, and only known content under If-Match', async () => {
    const { ETag } = await s3.put('k', 'one', { IfNoneMatch: '*' });

    await expect(s3.put('k', 'two', { IfNoneMatch: '*' })).rejects.toMatchObject({
      name: 'PreconditionFailed',
    });
    await expect(s3.put('k', 'two', { IfMatch: '"other"' })).rejects.toMatchObject({
      name: 'PreconditionFailed',
    });
    await s3.put('k', 'two', { IfMatch: ETag });
    expect(await s3.text('k')).toBe('two');
  });

  it.each(['nope', 'deep/er'])('does not know the key %s', async (Key) => {
    await expect(s3.get(Key)).rejects.toMatchObject({
      name: 'NoSuchKey',
      Key,
      $metadata: { httpStatusCode: 404 },
    });
    await expect(s3.client.send(new HeadObjectCommand({ Bucket, Key }))).rejects.toMatchObject({
      name: 'NotFound',
    });
  });

  it('refuses what it does not keep, rather than answering with the object', async () => {
    await s3.put('k', 'hello');

    await expect(s3.client.send(new GetObjectTaggingCommand({ Bucket, Key: 'k' }))).rejects.toMatchObject({
      name: 'NotImplemented',
    });
  });

  it('denies by rule', async () => {
    await s3.put('secret', 'x');
    s3.denied.push({ operation: 'GetObject', bucket: Bucket, key: 'secret' });

    await expect(s3.get('secret')).rejects.toMatchObject({
      name: 'AccessDenied',
      $metadata: { httpStatusCode: 403 },
    });
    await s3.client.send(new HeadObjectCommand({ Bucket, Key: 'secret' }));
  });
});

describe('S3 checksums', () => {
  it.each([
    [ChecksumAlgorithm.CRC32, 'ChecksumCRC32', 'y/Q5Jg=='],
    [ChecksumAlgorithm.CRC32C, 'ChecksumCRC32C', '4waSgw=='],
    [ChecksumAlgorithm.SHA1, 'ChecksumSHA1', '98O8HYCOBHMq4eZZczDTKeuNEE8='],
    [ChecksumAlgorithm.SHA256, 'ChecksumSHA256', 'FeKw09M92aV9oJ5yI4Xwi7Y1cnLQFjf/0VmHpWRKkiU='],
  ] as const)('keeps and gives back %s', async (ChecksumAlgorithm, field, value) => {
    const body = '123456789';
    const put = await s3.put('k', body, { ChecksumAlgorithm });
    const got = await s3.get('k', { ChecksumMode: 'ENABLED' });

    expect(put[field]).toBe(got[field]);
    expect(await got.Body?.transformToString()).toBe(body);
    if (field !== 'ChecksumSHA1' && field !== 'ChecksumSHA256') expect(got[field]).toBe(value);
    else
      expect(got[field]).toBe(
        createHash(field === 'ChecksumSHA1' ? 'sha1' : 'sha256')
          .update(body)
          .digest('base64'),
      );
  });

  it('takes the checksum that the caller computed, if it is right', async () => {
    const sum = { ChecksumCRC64NVME: 'rosUhgp5mIg=' };

    await s3.put('k', '123456789', sum);

    expect((await s3.get('k', { ChecksumMode: 'ENABLED' })).ChecksumCRC64NVME).toBe(sum.ChecksumCRC64NVME);
    await expect(s3.put('k', '12345678', sum)).rejects.toMatchObject({ name: 'BadDigest' });
  });

  it('refuses content that does not match its Content-MD5', async () => {
    const ContentMD5 = createHash('md5').update('other').digest('base64');

    await expect(s3.put('k', 'hello', { ContentMD5 })).rejects.toMatchObject({ name: 'BadDigest' });
  });
});

describe('S3 buckets', () => {
  it('creates, lists and deletes', async () => {
    await s3.client.send(new CreateBucketCommand({ Bucket: 'other' }));
    const { Buckets } = await s3.client.send(new ListBucketsCommand({}));
    expect(Buckets?.map(({ Name }) => Name)).toEqual(['other', Bucket]);
    await s3.client.send(new HeadBucketCommand({ Bucket: 'other' }));

    await s3.client.send(new DeleteBucketCommand({ Bucket: 'other' }));

    await expect(s3.client.send(new HeadBucketCommand({ Bucket: 'other' }))).rejects.toMatchObject({
      name: 'NotFound',
    });
    await expect(
      s3.client.send(new PutObjectCommand({ Bucket: 'other', Key: 'k', Body: 'x' })),
    ).rejects.toMatchObject({ name: 'NoSuchBucket' });
  });

  it('does not delete a bucket that holds something', async () => {
    await s3.put('k', 'x');

    await expect(s3.client.send(new DeleteBucketCommand({ Bucket }))).rejects.toMatchObject({
      name: 'BucketNotEmpty',
    });
  });
});

describe('S3 snapshots', () => {
  it('keep bytes, versions and markers', async () => {
    const bytes = Uint8Array.of(0, 255, 128);
    const { VersionId } = await s3.put('k', bytes, { ContentType: 'application/x' });
    await s3.remove('k');
    const snapshot = JSON.parse(JSON.stringify(s3.store.snapshot()));

    s3 = setUp();
    s3.store.restore(snapshot);

    await expect(s3.get('k')).rejects.toMatchObject({ name: 'NoSuchKey' });
    const got = await s3.get('k', { VersionId, ChecksumMode: 'ENABLED' });
    expect(await got.Body?.transformToByteArray()).toEqual(bytes);
    expect(got.ContentType).toBe('application/x');
  });
});

describe('S3 through a socket', () => {
  it('serves the SDK’s default client', async () => {
    const server = await listenOnLoopback(s3.dispatch);
    const client = new S3Client({
      region: 'us-east-1',
      endpoint: server.url,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      forcePathStyle: true,
    });

    await client.send(
      new PutObjectCommand({
        Bucket,
        Key: 'k',
        Body: Readable.from([Buffer.from('one '), Buffer.from('two')]),
        ContentLength: 7,
      }),
    );
    const got = await client.send(new GetObjectCommand({ Bucket, Key: 'k' }));
    const head = await client.send(new HeadObjectCommand({ Bucket, Key: 'k' }));
    const list = await client.send(new ListObjectsV2Command({ Bucket }));

    expect(await got.Body?.transformToString()).toBe('one two');
    expect(head.ContentLength).toBe(7);
    expect(list.KeyCount).toBe(1);
    client.destroy();
    await server.close();
  });
});
