import { itemBytes } from './item-size.ts';
import type { Change } from './store.ts';
import type { Table } from './table.ts';
import { writeUnits } from './table.ts';
import type { Item, ReturnConsumedCapacity } from './types.ts';

const READ_UNIT_BYTES = 4096;
const TRANSACTION_FACTOR = 2;

/** An answer's ConsumedCapacity for one table. */
export interface ConsumedCapacity {
  TableName: string;
  CapacityUnits: number;
  ReadCapacityUnits?: number;
  WriteCapacityUnits?: number;
  Table?: { CapacityUnits: number };
  GlobalSecondaryIndexes?: Record<string, { CapacityUnits: number }>;
  LocalSecondaryIndexes?: Record<string, { CapacityUnits: number }>;
}

/** Units used, by table and index. Indexes that cost nothing are left out. */
export interface Usage {
  readonly table: Table;
  readonly units: number;
  readonly global: Readonly<Record<string, number>>;
  readonly local: Readonly<Record<string, number>>;
}

/** Read units for so many bytes: one for each 4 KB begun and at least one; half of it when not consistent. */
export function readUnits(bytes: number, consistent: boolean): number {
  return Math.max(1, Math.ceil(bytes / READ_UNIT_BYTES)) * (consistent ? 1 : 0.5);
}

export function readUsage(table: Table, units: number): Usage {
  return { table, units, global: {}, local: {} };
}

function larger(old: Item | undefined, next: Item | undefined): number {
  return Math.max(old === undefined ? 0 : itemBytes(old), next === undefined ? 0 : itemBytes(next));
}

/** What a write costs: the larger of both images, and each index whose entry changes. */
export function writeUsage({ table, old, next }: Change): Usage {
  const global: Record<string, number> = {};
  const local: Record<string, number> = {};
  for (const index of table.indexes) {
    const units = table.indexWriteUnits(index, old, next);
    if (units > 0) {
      (index.global ? global : local)[index.definition.IndexName] = units;
    }
  }
  return { table, units: writeUnits(larger(old, next)), global, local };
}

/** A transactional write costs twice as much in the table; its index entries follow at the normal price. */
export function transactionalWriteUsage(change: Change): Usage {
  const usage = writeUsage(change);
  return { ...usage, units: usage.units * TRANSACTION_FACTOR };
}

export function transactionalReadUnits(item: Item | undefined): number {
  return readUnits(item === undefined ? 0 : itemBytes(item), true) * TRANSACTION_FACTOR;
}

function total(units: Readonly<Record<string, number>>): number {
  return Object.values(units).reduce((sum, each) => sum + each, 0);
}

function detailed(units: Readonly<Record<string, number>>): Record<string, { CapacityUnits: number }> {
  return Object.fromEntries(Object.entries(units).map(([name, CapacityUnits]) => [name, { CapacityUnits }]));
}

function add(left: Readonly<Record<string, number>>, right: Readonly<Record<string, number>>) {
  const sum: Record<string, number> = { ...left };
  for (const [name, units] of Object.entries(right)) {
    sum[name] = (sum[name] ?? 0) + units;
  }
  return sum;
}

/** One usage a table, in the order in which the tables first appear. */
export function merged(usages: readonly Usage[]): Usage[] {
  const byTable = new Map<Table, Usage>();
  for (const usage of usages) {
    const before = byTable.get(usage.table);
    byTable.set(
      usage.table,
      before === undefined
        ? usage
        : {
            table: usage.table,
            units: before.units + usage.units,
            global: add(before.global, usage.global),
            local: add(before.local, usage.local),
          },
    );
  }
  return [...byTable.values()];
}

/** The answer's member; undefined unless the request asked. Transactions also say which kind of units. */
export function consumed(
  usage: Usage,
  asked: ReturnConsumedCapacity | undefined,
  kind?: 'ReadCapacityUnits' | 'WriteCapacityUnits',
): ConsumedCapacity | undefined {
  if (asked === undefined || asked === 'NONE') {
    return undefined;
  }
  const units = usage.units + total(usage.global) + total(usage.local);
  return {
    TableName: usage.table.name,
    CapacityUnits: units,
    ...(kind === undefined ? {} : { [kind]: units }),
    ...(asked === 'INDEXES'
      ? {
          Table: { CapacityUnits: usage.units, ...(kind === undefined ? {} : { [kind]: usage.units }) },
          ...(total(usage.global) > 0 ? { GlobalSecondaryIndexes: detailed(usage.global) } : {}),
          ...(total(usage.local) > 0 ? { LocalSecondaryIndexes: detailed(usage.local) } : {}),
        }
      : {}),
  };
}
