import { DynamoDbError, unsupported, validationError } from './errors.ts';
import type {
  parseListTables,
  parseTableName,
  parseTags,
  parseUpdateContinuousBackups,
  parseUpdateTimeToLive,
} from './requests.ts';
import type { Store } from './store.ts';
import type { Index, Table } from './table.ts';
import type { CreateTableInput } from './types.ts';

const MAX_TABLES_LISTED = 100;
/** Page size only: reads and writes never throttle here. */
const NO_THROUGHPUT = { ReadCapacityUnits: 0, WriteCapacityUnits: 0 };

type Named = ReturnType<typeof parseTableName>;

function describeIndex(store: Store, table: Table, { definition, global, items }: Index) {
  return {
    ...definition,
    IndexArn: `${store.arn(table.name)}/index/${definition.IndexName}`,
    ItemCount: items.count,
    IndexSizeBytes: 0,
    ...(global ? { IndexStatus: 'ACTIVE', ProvisionedThroughput: NO_THROUGHPUT } : {}),
  };
}

function describe(store: Store, table: Table, status: string) {
  const { definition, stream } = table;
  const createdAt = definition.createdAt / 1000;
  const global = table.indexes.filter((index) => index.global);
  const local = table.indexes.filter((index) => !index.global);
  const onDemand = definition.BillingMode === 'PAY_PER_REQUEST';
  return {
    TableName: table.name,
    TableArn: store.arn(table.name),
    TableId: definition.id,
    TableStatus: status,
    CreationDateTime: createdAt,
    AttributeDefinitions: definition.AttributeDefinitions,
    KeySchema: definition.KeySchema,
    ItemCount: table.items.count,
    TableSizeBytes: 0,
    ProvisionedThroughput: {
      ...NO_THROUGHPUT,
      ...definition.ProvisionedThroughput,
      NumberOfDecreasesToday: 0,
    },
    ...(onDemand
      ? {
          BillingModeSummary: {
            BillingMode: 'PAY_PER_REQUEST',
            LastUpdateToPayPerRequestDateTime: createdAt,
          },
        }
      : {}),
    ...(global.length > 0
      ? { GlobalSecondaryIndexes: global.map((index) => describeIndex(store, table, index)) }
      : {}),
    ...(local.length > 0
      ? { LocalSecondaryIndexes: local.map((index) => describeIndex(store, table, index)) }
      : {}),
    ...(stream === undefined
      ? {}
      : {
          StreamSpecification: definition.StreamSpecification,
          LatestStreamArn: stream.arn,
          LatestStreamLabel: stream.arn.slice(stream.arn.lastIndexOf('/') + 1),
        }),
    ...(definition.SSESpecification?.Enabled
      ? { SSEDescription: { Status: 'ENABLED', SSEType: 'KMS' } }
      : {}),
    DeletionProtectionEnabled: definition.DeletionProtectionEnabled ?? false,
  };
}

/** Creates the table. It is ACTIVE at once, though the answer says CREATING as the service's does. */
export function createTable(store: Store, input: CreateTableInput) {
  if (store.tables.has(input.TableName)) {
    throw new DynamoDbError('ResourceInUseException', `Table already exists: ${input.TableName}`);
  }
  const { StreamSpecification: stream } = input;
  if (stream?.StreamEnabled && stream.StreamViewType === undefined) {
    throw validationError(
      'One or more parameter values were invalid: StreamViewType is required when StreamEnabled is true',
    );
  }
  const table = store.define({
    ...input,
    id: store.options.newId(),
    createdAt: store.options.clock.now(),
  });
  return { TableDescription: describe(store, table, 'CREATING') };
}

export function deleteTable(store: Store, input: Named) {
  const table = store.table(input.TableName, true);
  if (table.definition.DeletionProtectionEnabled) {
    throw validationError(
      `Resource cannot be deleted as it is currently protected against deletion. ` +
        `Disable deletion protection first: ${table.name}`,
    );
  }
  store.drop(table.name);
  return { TableDescription: describe(store, table, 'DELETING') };
}

export function describeTable(store: Store, input: Named) {
  return { Table: describe(store, store.table(input.TableName, true), 'ACTIVE') };
}

export function listTables(store: Store, input: ReturnType<typeof parseListTables>) {
  const limit = input.Limit ?? MAX_TABLES_LISTED;
  const after = input.ExclusiveStartTableName ?? '';
  const names = [...store.tables.keys()].filter((name) => name > after).toSorted();
  const TableNames = names.slice(0, limit);
  return {
    TableNames,
    LastEvaluatedTableName: names.length > limit ? TableNames.at(-1) : undefined,
  };
}

export function listTagsOfResource(store: Store, input: ReturnType<typeof parseTags>) {
  const table = store.table(input.ResourceArn.slice(input.ResourceArn.lastIndexOf('/') + 1));
  return { Tags: table.definition.Tags ?? [] };
}

export function updateTimeToLive(store: Store, input: ReturnType<typeof parseUpdateTimeToLive>) {
  const table = store.table(input.TableName, true);
  const { AttributeName, Enabled } = input.TimeToLiveSpecification;
  const current = table.definition.ttlAttribute;
  if (Enabled && current !== undefined) {
    throw validationError('TimeToLive is already enabled');
  }
  if (!Enabled && current === undefined) {
    throw validationError('TimeToLive is already disabled');
  }
  if (!Enabled && current !== AttributeName) {
    throw validationError(
      `TimeToLive is active on a different AttributeName: current AttributeName is ${current}`,
    );
  }
  const { ttlAttribute: _, ...others } = table.definition;
  store.define(Enabled ? { ...others, ttlAttribute: AttributeName } : others);
  return { TimeToLiveSpecification: input.TimeToLiveSpecification };
}

export function describeTimeToLive(store: Store, input: Named) {
  const name = store.table(input.TableName, true).definition.ttlAttribute;
  return {
    TimeToLiveDescription:
      name === undefined
        ? { TimeToLiveStatus: 'DISABLED' }
        : { TimeToLiveStatus: 'ENABLED', AttributeName: name },
  };
}

function backups(store: Store, table: Table) {
  const enabled = table.definition.pointInTimeRecovery ?? false;
  return {
    ContinuousBackupsDescription: {
      ContinuousBackupsStatus: 'ENABLED',
      PointInTimeRecoveryDescription: enabled
        ? {
            PointInTimeRecoveryStatus: 'ENABLED',
            RecoveryPeriodInDays: 35,
            EarliestRestorableDateTime: table.definition.createdAt / 1000,
            LatestRestorableDateTime: store.options.clock.now() / 1000,
          }
        : { PointInTimeRecoveryStatus: 'DISABLED' },
    },
  };
}

/** The setting is kept and described; there is nothing to restore from here. */
export function updateContinuousBackups(
  store: Store,
  input: ReturnType<typeof parseUpdateContinuousBackups>,
) {
  const table = store.table(input.TableName, true);
  const { PointInTimeRecoveryEnabled, RecoveryPeriodInDays } = input.PointInTimeRecoverySpecification;
  if (RecoveryPeriodInDays !== undefined) {
    throw unsupported('RecoveryPeriodInDays', 'leave it out');
  }
  store.define({ ...table.definition, pointInTimeRecovery: PointInTimeRecoveryEnabled });
  return backups(store, table);
}

export function describeContinuousBackups(store: Store, input: Named) {
  return backups(store, store.table(input.TableName, true));
}
