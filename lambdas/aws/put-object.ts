import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';

/** A JSON text, and where it is put. */
export interface NewObject {
  readonly bucket: string;
  readonly key: string;
  readonly bytes: Uint8Array;
  /** Digest of the bytes, hexadecimal: S3 refuses what arrives as something else. */
  readonly sha256: string;
}

export type PutObject = (object: NewObject) => Promise<void>;

export function createPutObject(client: S3Client): PutObject {
  return async ({ bucket, key, bytes, sha256 }) => {
    await client.send(
      new PutObjectCommand({
        Bucket: bucket,
        Key: key,
        Body: bytes,
        ContentType: 'application/json',
        ChecksumSHA256: Buffer.from(sha256, 'hex').toString('base64'),
      }),
    );
  };
}
