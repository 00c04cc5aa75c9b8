import { Duration, type RemovalPolicy } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';

/** Properties of {@link PayloadBucket}. */
export interface PayloadBucketProps {
  /** Days after which an object expires. */
  readonly retentionDays: number;
  readonly removalPolicy: RemovalPolicy;
  /** @default S3's own key */
  readonly encryptionKey?: IKey | undefined;
}

/** Where payloads lie that are too large for an execution: versioned, encrypted, TLS only, expiring. */
export class PayloadBucket extends Construct {
  readonly bucket: Bucket;

  constructor(scope: Construct, id: string, props: PayloadBucketProps) {
    super(scope, id);
    this.bucket = new Bucket(this, 'Bucket', {
      versioned: true,
      enforceSSL: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      // What an interrupted upload left behind is paid for and never read.
      lifecycleRules: [
        {
          expiration: Duration.days(props.retentionDays),
          noncurrentVersionExpiration: Duration.days(props.retentionDays),
          abortIncompleteMultipartUploadAfter: Duration.days(1),
        },
      ],
      removalPolicy: props.removalPolicy,
      ...(props.encryptionKey === undefined
        ? { encryption: BucketEncryption.S3_MANAGED }
        : {
            encryption: BucketEncryption.KMS,
            encryptionKey: props.encryptionKey,
            bucketKeyEnabled: true,
          }),
    });
    acknowledge(this.bucket, {
      S1: 'CloudTrail data events tell who read which object; a log bucket is the account’s to choose.',
    });
  }
}
