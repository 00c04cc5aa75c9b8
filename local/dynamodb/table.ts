import { toRangeStr } from 'dynalite/db/index.js';
import { attributeOf, itemsEqual } from './attribute-values.ts';
import type { ChangeStream } from './change-stream.ts';
import { itemBytes } from './item-size.ts';
import type { KeyNames, Position } from './keyspace.ts';
import { closed, Keyspace, keyNames, positionOf } from './keyspace.ts';
import type { CreateTableInput, IndexDefinition, Item } from './types.ts';

/** All that a table is apart from its items: what the journal keeps of it. */
export interface TableDefinition extends CreateTableInput {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly ttlAttribute?: string;
  readonly pointInTimeRecovery?: boolean;
}

export interface Index {
  readonly definition: IndexDefinition;
  readonly global: boolean;
  readonly keys: KeyNames;
  readonly items: Keyspace;
}

const WRITE_UNIT_BYTES = 1024;

/** Write units of an item of that size; writing nothing at all costs one. */
export function writeUnits(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / WRITE_UNIT_BYTES));
}

/** A table with its indexes, always in step with each other. */
export class Table {
  definition: TableDefinition;
  readonly keys: KeyNames;
  readonly items: Keyspace;
  readonly indexes: readonly Index[];
  readonly stream: ChangeStream | undefined;

  constructor(definition: TableDefinition, stream: ChangeStream | undefined) {
    this.definition = definition;
    this.stream = stream;
    this.keys = keyNames(definition.KeySchema, definition.AttributeDefinitions);
    this.items = new Keyspace(this.keys.hash.type);
    this.indexes = [
      ...(definition.GlobalSecondaryIndexes ?? []).map((index) => this.#index(index, true)),
      ...(definition.LocalSecondaryIndexes ?? []).map((index) => this.#index(index, false)),
    ];
  }

  get name(): string {
    return this.definition.TableName;
  }

  #index(definition: IndexDefinition, global: boolean): Index {
    const keys = keyNames(definition.KeySchema, this.definition.AttributeDefinitions);
    return { definition, global, keys, items: new Keyspace(keys.hash.type) };
  }

  /** The place of an item or key that has passed the validation. */
  position(item: Item): Position {
    const position = positionOf(item, this.keys);
    if (position === undefined) {
      throw new TypeError(`An item without the key of table ${this.name} passed the validation`);
    }
    return position;
  }

  keyOf(item: Item): Item {
    const { hash, range } = this.keys;
    return only(item, range === undefined ? [hash.name] : [hash.name, range.name]);
  }

  /** Puts `next` where `old` was (undefined: nothing there) in the table and every index. */
  replace(old: Item | undefined, next: Item | undefined): void {
    if (next !== undefined) {
      this.items.set(this.position(next), next);
    } else if (old !== undefined) {
      this.items.delete(this.position(old));
    }
    for (const index of this.indexes) {
      const before = old === undefined ? undefined : this.indexPosition(index, old);
      const after = next === undefined ? undefined : this.indexPosition(index, next);
      if (before !== undefined && !samePosition(before, after)) {
        index.items.delete(before);
      }
      if (after !== undefined && next !== undefined) {
        index.items.set(after, this.projected(index, next));
      }
    }
  }

  /** An item's place in an index; the table's key makes it unique there. */
  indexPosition(index: Index, item: Item): Position | undefined {
    const position = positionOf(item, index.keys);
    if (position === undefined) {
      return undefined;
    }
    const own = this.position(item);
    const suffix = closed(toRangeStr(own.partition, this.keys.hash.type)) + own.sort;
    return { partition: position.partition, sort: position.sort + suffix };
  }

  /** What an index holds of the item. */
  projected(index: Index, item: Item): Item {
    const { ProjectionType, NonKeyAttributes = [] } = index.definition.Projection;
    if (ProjectionType === 'ALL') {
      return item;
    }
    const keys = [this.keys.hash, this.keys.range, index.keys.hash, index.keys.range];
    return only(item, [...keys.flatMap((key) => (key === undefined ? [] : [key.name])), ...NonKeyAttributes]);
  }

  /** Write units that the change costs in one index: none where the index's entry stays as it is. */
  indexWriteUnits(index: Index, old: Item | undefined, next: Item | undefined): number {
    const before = old === undefined ? undefined : this.indexPosition(index, old);
    const after = next === undefined ? undefined : this.indexPosition(index, next);
    const beforeEntry = before === undefined || old === undefined ? undefined : this.projected(index, old);
    const afterEntry = after === undefined || next === undefined ? undefined : this.projected(index, next);
    const beforeUnits = beforeEntry === undefined ? 0 : writeUnits(itemBytes(beforeEntry));
    const afterUnits = afterEntry === undefined ? 0 : writeUnits(itemBytes(afterEntry));
    if (beforeEntry === undefined || afterEntry === undefined) {
      return beforeUnits + afterUnits;
    }
    // A changed index key is a delete and a put.
    if (before !== undefined && !samePosition(before, after)) {
      return beforeUnits + afterUnits;
    }
    return itemsEqual(beforeEntry, afterEntry) ? 0 : Math.max(beforeUnits, afterUnits);
  }
}

function samePosition(left: Position, right: Position | undefined): boolean {
  return left.partition === right?.partition && left.sort === right.sort;
}

function only(item: Item, names: readonly string[]): Item {
  const result: Item = {};
  for (const name of names) {
    const value = attributeOf(item, name);
    if (value !== undefined) {
      result[name] = value;
    }
  }
  return result;
}
