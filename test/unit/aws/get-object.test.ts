import { S3Client } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { createGetObject } from '../../../lambdas/aws/get-object.ts';

/** A client whose service refuses every call under a name. */
function refusing(name: string): S3Client {
  const client = new S3Client({ region: 'us-east-1' });
  const refusal = Object.assign(new Error('refused'), { name });
  client.middlewareStack.add(
    () => async () => {
      throw refusal;
    },
    { step: 'initialize', name: 'refusing' },
  );
  return client;
}

const ref = { bucket: 'b', key: 'k', versionId: 'v', sha256: 'a'.repeat(64) };

describe('getObject', () => {
  it.each([
    ['NoSuchKey', 'notFound'],
    ['NoSuchVersion', 'notFound'],
    // What S3 says to a version that cannot be one, and to a key that no object can have.
    ['InvalidArgument', 'notFound'],
    ['KeyTooLongError', 'notFound'],
    ['AccessDenied', 'denied'],
    // Moved to an archive: there, and not to be had.
    ['InvalidObjectState', 'denied'],
  ])('takes %s to mean %s', async (name, status) => {
    expect(await createGetObject(refusing(name))(ref, 1)).toEqual({ status });
  });

  it('throws what says nothing about the object', async () => {
    await expect(createGetObject(refusing('SlowDown'))(ref, 1)).rejects.toThrow('refused');
  });
});
