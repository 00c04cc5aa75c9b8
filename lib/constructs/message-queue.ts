import type { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { DeduplicationScope, FifoThroughputLimit, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

/** Properties of {@link MessageQueue}. */
export interface MessageQueueProps {
  /** FIFO queues keep the order of a message group; the dead-letter queue is then FIFO as well. */
  readonly fifo: boolean;
  /** How long a received message stays hidden. */
  readonly visibilityTimeout: Duration;
  /** How long a message waits to be received. */
  readonly retention: Duration;
  /** How long a message stays in the dead-letter queue. */
  readonly dlqRetention: Duration;
  /** Receives after which SQS itself moves a message to the dead-letter queue. */
  readonly maxReceiveCount: number;
  /** @default SQS's own key */
  readonly encryptionKey?: IKey | undefined;
  /** What happens to the queues, and the messages in them, when the stack goes. */
  readonly removalPolicy: RemovalPolicy;
}

/** A queue and its dead-letter queue: encrypted, TLS only. */
export class MessageQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetterQueue: Queue;

  constructor(scope: Construct, id: string, props: MessageQueueProps) {
    super(scope, id);
    const shared = { ...queueSecurity(props.encryptionKey), removalPolicy: props.removalPolicy };
    // CloudFormation takes no `FifoQueue: false`.
    const kind = props.fifo
      ? {
          fifo: true,
          contentBasedDeduplication: true,
          deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
          fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
        }
      : {};
    this.deadLetterQueue = new Queue(this, 'DeadLetters', {
      ...shared,
      ...kind,
      retentionPeriod: props.dlqRetention,
    });
    this.queue = new Queue(this, 'Messages', {
      ...shared,
      ...kind,
      visibilityTimeout: props.visibilityTimeout,
      retentionPeriod: props.retention,
      deadLetterQueue: { queue: this.deadLetterQueue, maxReceiveCount: props.maxReceiveCount },
    });
  }
}

/** What every queue of a worker has in common. */
export const queueSecurity = (encryptionKey: IKey | undefined) =>
  encryptionKey === undefined
    ? { enforceSSL: true, encryption: QueueEncryption.SQS_MANAGED }
    : { enforceSSL: true, encryption: QueueEncryption.KMS, encryptionMasterKey: encryptionKey };
