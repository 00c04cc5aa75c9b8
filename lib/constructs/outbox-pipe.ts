import { Aws, Duration, RemovalPolicy } from 'aws-cdk-lib';
import type { ITable, Table, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { EventBus, IEventBus } from 'aws-cdk-lib/aws-events';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { CfnPipe } from 'aws-cdk-lib/aws-pipes';
import { type IQueue, Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { type Fault, throwFaults } from '../faults.ts';
import { acknowledge } from './acknowledge.ts';
import { queueSecurity } from './message-queue.ts';

/** Properties of {@link OutboxPipe}. */
export interface OutboxPipeProps {
  /** A table with outbox rows and a stream: the worker's, or a producer's that uses `outboxItem`. */
  readonly table: ITable | Table | TableV2;
  /** Where the events go: another worker's queue, or a bus. FIFO queues are refused. */
  readonly target: IQueue | IEventBus | EventBus;
  /**
   * Detail type on a bus.
   * @default 'StepwellEvent'
   */
  readonly detailType?: string;
  /**
   * Key of the queue for what could not be published, if it is to have one.
   * @default SQS's own key
   */
  readonly encryptionKey?: IKey;
  /**
   * What becomes of the queue for what could not be published when the stack goes.
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
}

/** Rows that are new; nothing else of the table leaves it. */
const OUTBOX_FILTER = {
  eventName: ['INSERT'],
  dynamodb: { Keys: { PK: { S: [{ prefix: 'OUTBOX#' }] } } },
} as const;

/** The envelope is stored as a JSON string, because pipes turn no DynamoDB map into plain JSON. */
const ENVELOPE_TEMPLATE = '<$.dynamodb.NewImage.envelope.S>';
const BATCH_SIZE = 10;
const MAX_RETRIES = 20;
/** Under the stream's 24 hours, so that a record which cannot be published reaches the queue instead of expiring. */
const MAX_RECORD_AGE = Duration.hours(20);

/**
 * Publishes a table's outbox rows, at least once and without code: the table's stream, filtered, into a queue or a
 * bus. One pipe a table: a shard of the stream bears two readers, and the worker's own is one.
 */
export class OutboxPipe extends Construct {
  readonly pipe: CfnPipe;
  /** ARN of the stream that is read. */
  readonly source: string;
  readonly role: Role;
  /** References to the records that could not be published. */
  readonly deadLetterQueue: Queue;

  /** @throws ConfigurationError when the table has no stream or another pipe, or the target is a FIFO queue */
  constructor(scope: Construct, id: string, props: OutboxPipeProps) {
    super(scope, id);
    const { table, target } = props;
    const source = table.tableStreamArn ?? '';
    const toBus = 'eventBusArn' in target;
    throwFaults(this.node.path, [...findSourceFaults(this, source), ...findTargetFaults(target)]);
    this.source = source;
    this.deadLetterQueue = new Queue(this, 'Unpublished', {
      ...queueSecurity(props.encryptionKey),
      retentionPeriod: Duration.days(14),
      removalPolicy: props.removalPolicy ?? RemovalPolicy.RETAIN,
    });
    acknowledge(this.deadLetterQueue, {
      SQS3: 'It is the dead-letter queue of the pipe, which names it by its ARN.',
    });
    this.role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('pipes.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    });
    this.#allow(['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'], source);
    // The service offers no resource for this one.
    this.#allow(['dynamodb:ListStreams'], '*');
    acknowledge(this.role, {
      'IAM5[Resource::*]': 'dynamodb:ListStreams is bound to no resource by the service.',
    });
    this.#allow(['sqs:SendMessage'], this.deadLetterQueue.queueArn);
    const targetArn = toBus ? target.eventBusArn : target.queueArn;
    this.#allow([toBus ? 'events:PutEvents' : 'sqs:SendMessage'], targetArn);
    const keys = [props.encryptionKey, table.encryptionKey, toBus ? undefined : target.encryptionMasterKey];
    for (const key of new Set(keys.filter((entry) => entry !== undefined))) {
      this.#allow(['kms:Decrypt', 'kms:GenerateDataKey'], key.keyArn);
    }
    this.pipe = new CfnPipe(this, 'Pipe', {
      description: 'Publishes the outbox',
      roleArn: this.role.roleArn,
      source,
      sourceParameters: {
        filterCriteria: { filters: [{ pattern: JSON.stringify(OUTBOX_FILTER) }] },
        dynamoDbStreamParameters: {
          startingPosition: 'TRIM_HORIZON',
          batchSize: BATCH_SIZE,
          onPartialBatchItemFailure: 'AUTOMATIC_BISECT',
          maximumRetryAttempts: MAX_RETRIES,
          maximumRecordAgeInSeconds: MAX_RECORD_AGE.toSeconds(),
          deadLetterConfig: { arn: this.deadLetterQueue.queueArn },
        },
      },
      target: targetArn,
      targetParameters: {
        inputTemplate: ENVELOPE_TEMPLATE,
        ...(toBus
          ? {
              eventBridgeEventBusParameters: {
                source: 'stepwell',
                detailType: props.detailType ?? 'StepwellEvent',
              },
            }
          : {}),
      },
    });
    // A pipe is created with its role's rights checked.
    this.pipe.node.addDependency(this.role);
  }

  #allow(actions: string[], resource: string): void {
    this.role.addToPolicy(new PolicyStatement({ actions, resources: [resource] }));
  }
}

/** What is wrong with the stream of `table`. */
export function findSourceFaults(scope: Construct, source: string): readonly Fault[] {
  if (source === '') {
    const remedy = 'Import it with fromTableAttributes and tableStreamArn';
    return [{ prop: 'table', rule: 'has no stream', remedy }];
  }
  const pipes = scope.node.root.node.findAll().filter((other) => other instanceof OutboxPipe);
  return pipes
    .filter((pipe) => pipe.source === source)
    .map(({ node }) => ({
      prop: 'table',
      rule: `is published by ${node.path} already: a shard of its stream bears two readers, and each event would go out twice`,
      remedy: 'Give that pipe a bus as its target, and the bus a rule for each receiver',
    }));
}

/** What is wrong with `target`. */
export function findTargetFaults(target: OutboxPipeProps['target']): readonly Fault[] {
  if ('eventBusArn' in target || !target.fifo) return [];
  return [
    {
      prop: 'target',
      rule: 'is a FIFO queue, whose order would promise too much: a stream keeps no order across rows',
      remedy: 'Use a standard queue, and an ordering of the message type by version',
    },
  ];
}
