import type { RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  ProjectionType,
  StreamViewType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { INDEXES, TABLE } from '../../lambdas/core/table.ts';

/** Properties of {@link WorkerTable}. */
export interface WorkerTableProps {
  /** Refuses to delete the table, by whatever way. */
  readonly deletionProtection: boolean;
  readonly removalPolicy: RemovalPolicy;
  /** @default a key that DynamoDB owns */
  readonly encryptionKey?: IKey | undefined;
}

/** The worker's one table: inbox, aggregates, effects, outbox and quarantine. */
export class WorkerTable extends Construct {
  readonly table: Table;

  constructor(scope: Construct, id: string, props: WorkerTableProps) {
    super(scope, id);
    this.table = new Table(this, 'Table', {
      partitionKey: text(TABLE.partitionKey),
      sortKey: text(TABLE.sortKey),
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: TABLE.ttlAttribute,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      stream: StreamViewType.NEW_AND_OLD_IMAGES,
      deletionProtection: props.deletionProtection,
      removalPolicy: props.removalPolicy,
      ...(props.encryptionKey === undefined
        ? {}
        : { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: props.encryptionKey }),
    });
    this.table.addGlobalSecondaryIndex({
      indexName: INDEXES.byAttention.name,
      partitionKey: text(INDEXES.byAttention.partitionKey),
      sortKey: text(INDEXES.byAttention.sortKey),
      projectionType: ProjectionType.KEYS_ONLY,
    });
    this.table.addGlobalSecondaryIndex({
      indexName: INDEXES.byAggregate.name,
      partitionKey: text(INDEXES.byAggregate.partitionKey),
      sortKey: text(INDEXES.byAggregate.sortKey),
      projectionType: ProjectionType.KEYS_ONLY,
    });
  }
}

const text = (name: string) => ({ name, type: AttributeType.STRING });
