import { Stack } from 'aws-cdk-lib';
import { CfnGlobalTable, CfnTable, type ITable, type Table, type TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { INDEXES, TABLE } from '../../../lambdas/core/table.ts';
import type { Collector } from './collect.ts';

interface KeyPart {
  readonly attributeName?: string;
  readonly keyType?: string;
}
/** A table's definition as CloudFormation has it, L1 props resolved. */
interface TableDefinition {
  readonly keySchema?: readonly KeyPart[];
  readonly globalSecondaryIndexes?: readonly {
    readonly indexName?: string;
    readonly keySchema?: readonly KeyPart[];
  }[];
  readonly streamSpecification?: { readonly streamViewType?: string };
  readonly timeToLiveSpecification?: { readonly attributeName?: string; readonly enabled?: boolean };
  readonly replicas?: readonly unknown[];
}

/** An imported table. What is defined in this app can be checked here; `stepwell doctor` checks the rest. */
export function checkImportedTable({ props, expect }: Collector): void {
  const { table } = props;
  if (table === undefined) return;
  const wrong = (holds: boolean, rule: string, remedy: string) => expect(holds, 'table', rule, remedy);
  wrong(
    table.tableStreamArn !== undefined,
    'must have a stream with new and old images',
    'Import it with fromTableAttributes and tableStreamArn',
  );
  const definition = definitionOf(table);
  if (definition === undefined) return;
  const { streamSpecification, timeToLiveSpecification: ttl, replicas = [] } = definition;
  const view = streamSpecification?.streamViewType;
  wrong(
    view === undefined || view === 'NEW_AND_OLD_IMAGES',
    `must stream new and old images, streams ${view}`,
    'Set stream: StreamViewType.NEW_AND_OLD_IMAGES where the table is defined',
  );
  wrong(
    ttl?.attributeName === TABLE.ttlAttribute && ttl.enabled !== false,
    'must have its time to live on the attribute ttl',
    'Set timeToLiveAttribute where the table is defined',
  );
  wrong(
    isKey(definition.keySchema, TABLE),
    `must have the partition key ${TABLE.partitionKey} and the sort key ${TABLE.sortKey}`,
    'A table’s key cannot be changed: let the worker make its own',
  );
  for (const index of Object.values(INDEXES)) {
    const found = definition.globalSecondaryIndexes?.find(({ indexName }) => indexName === index.name);
    wrong(
      isKey(found?.keySchema, index),
      `must have an index ${index.name} with the keys ${index.partitionKey} and ${index.sortKey}`,
      'Add it where the table is defined, before the worker, with the projection KEYS_ONLY',
    );
  }
  wrong(
    replicas.length <= 1,
    'must have no replica in another Region: between replicas the last writer wins, whatever a condition says',
    'Leave replicas out; a second Region has a worker and a table of its own',
  );
}

const isKey = (
  schema: readonly KeyPart[] | undefined,
  { partitionKey, sortKey }: { readonly partitionKey: string; readonly sortKey: string },
): boolean =>
  schema?.find(({ keyType }) => keyType === 'HASH')?.attributeName === partitionKey &&
  schema.find(({ keyType }) => keyType === 'RANGE')?.attributeName === sortKey;

function definitionOf(table: ITable | Table | TableV2): TableDefinition | undefined {
  const definition = table.node.defaultChild;
  if (!(definition instanceof CfnTable || definition instanceof CfnGlobalTable)) return undefined;
  const { keySchema, globalSecondaryIndexes, streamSpecification, timeToLiveSpecification } = definition;
  return Stack.of(table).resolve({
    keySchema,
    globalSecondaryIndexes,
    streamSpecification,
    timeToLiveSpecification,
    ...(definition instanceof CfnGlobalTable ? { replicas: definition.replicas } : {}),
  });
}
