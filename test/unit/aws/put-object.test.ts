import { S3Client } from '@aws-sdk/client-s3';
import { expect, it } from 'vitest';
import { createPutObject } from '../../../lambdas/aws/put-object.ts';
import { sha256 } from '../../../lambdas/core/identity.ts';

it('puts JSON with its digest, so that S3 refuses what arrives as something else', async () => {
  const sent: object[] = [];
  const client = new S3Client({ region: 'us-east-1' });
  client.middlewareStack.add(
    () => async (args) => {
      sent.push(args.input);
      return { response: {}, output: { $metadata: {} } };
    },
    { step: 'initialize', name: 'recording' },
  );
  const bytes = Buffer.from('{}');

  await createPutObject(client)({ bucket: 'b', key: 'k', bytes, sha256: sha256(bytes) });

  expect(sent).toEqual([
    {
      Bucket: 'b',
      Key: 'k',
      Body: bytes,
      ContentType: 'application/json',
      ChecksumSHA256: 'RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=',
    },
  ]);
});
