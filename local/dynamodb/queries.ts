import { mapPaths, validateKey, validateKeyPaths } from 'dynalite/db/index.js';
import { attributeOf } from './attribute-values.ts';
import { consumed, readUnits } from './capacity.ts';
import { holds } from './condition.ts';
import { validationError } from './errors.ts';
import { itemBytes } from './item-size.ts';
import type { KeyNames, Keyspace, Position } from './keyspace.ts';
import { AFTER_ALL, closed, sortText } from './keyspace.ts';
import { assertValid } from './requests.ts';
import type { Store } from './store.ts';
import type { Index, Table } from './table.ts';
import type { AttributeValue, Item, KeyCondition, QueryInput, ScanInput } from './types.ts';

const PAGE_BYTES = 1024 * 1024;

/** What is read: the table itself or one of its indexes. */
interface Source {
  readonly table: Table;
  readonly index: Index | undefined;
  readonly keys: KeyNames;
  readonly items: Keyspace;
}

function sourceOf(store: Store, input: QueryInput | ScanInput): Source {
  const table = store.table(input.TableName);
  assertValid(validateKeyPaths(input._projection?.nestedPaths, table.definition));
  assertValid(validateKeyPaths(input._filter?.nestedPaths, table.definition));
  if (input.IndexName === undefined) {
    return { table, index: undefined, keys: table.keys, items: table.items };
  }
  const index = table.indexes.find((candidate) => candidate.definition.IndexName === input.IndexName);
  if (index === undefined) {
    throw validationError(`The table does not have the specified index: ${input.IndexName}`);
  }
  if (index.global && input.ConsistentRead) {
    throw validationError('Consistent reads are not supported on global secondary indexes');
  }
  if (input.Select === 'ALL_ATTRIBUTES' && index.definition.Projection.ProjectionType !== 'ALL') {
    throw validationError(
      'One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for ' +
        `${index.global ? 'global ' : ''}secondary index ${input.IndexName} because its projection type is not ALL`,
    );
  }
  return { table, index, keys: index.keys, items: index.items };
}

function keyAttributes({ table, keys }: Source): string[] {
  const all = [table.keys.hash, table.keys.range, keys.hash, keys.range];
  return [...new Set(all.flatMap((key) => (key === undefined ? [] : [key.name])))];
}

function startPosition(source: Source, start: Item | undefined): Position | undefined {
  if (start === undefined) {
    return undefined;
  }
  const names = keyAttributes(source);
  const complete = names.every((name) => attributeOf(start, name) !== undefined);
  const key = source.table.keyOf(start);
  if (!complete || Object.keys(start).length !== names.length) {
    throw validationError('The provided starting key is invalid');
  }
  try {
    assertValid(validateKey(key, source.table.definition));
    const position =
      source.index === undefined
        ? source.table.position(start)
        : source.table.indexPosition(source.index, start);
    if (position !== undefined) {
      return position;
    }
  } catch (error) {
    throw validationError(
      `The provided starting key is invalid: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  throw validationError('The provided starting key is invalid');
}

interface Bounds {
  readonly from: string;
  readonly to: string;
}

function text(value: AttributeValue | undefined, type: string): string {
  const result = value === undefined ? undefined : sortText(value, type);
  if (result === undefined) {
    throw validationError(
      'One or more parameter values were invalid: Condition parameter type does not match schema type',
    );
  }
  return result;
}

function rangeBounds(condition: KeyCondition, type: string): Bounds {
  const [low, high] = condition.AttributeValueList;
  const start = text(low, type);
  const first = closed(start);
  const last = `${first}${AFTER_ALL}`;
  switch (condition.ComparisonOperator) {
    case 'EQ':
      return { from: first, to: last };
    case 'LT':
      return { from: '', to: first };
    case 'LE':
      return { from: '', to: last };
    case 'GT':
      return { from: last, to: AFTER_ALL };
    case 'GE':
      return { from: first, to: AFTER_ALL };
    case 'BETWEEN':
      return { from: first, to: `${closed(text(high, type))}${AFTER_ALL}` };
    case 'BEGINS_WITH':
      return { from: start, to: `${start}${AFTER_ALL}` };
  }
}

function partitionOf(input: QueryInput, { keys }: Source): string {
  const condition = input.KeyConditions[keys.hash.name];
  if (condition === undefined) {
    throw validationError(`Query condition missed key schema element: ${keys.hash.name}`);
  }
  const [value] = condition.AttributeValueList;
  if (condition.ComparisonOperator !== 'EQ' || value === undefined) {
    throw validationError('Query key condition not supported');
  }
  text(value, keys.hash.type);
  return 'S' in value ? value.S : 'N' in value ? value.N : 'B' in value ? value.B : '';
}

function boundsOf(input: QueryInput, { keys }: Source): Bounds {
  const others = Object.keys(input.KeyConditions).filter((name) => name !== keys.hash.name);
  const condition = keys.range === undefined ? undefined : input.KeyConditions[keys.range.name];
  if (others.length > 0 && (condition === undefined || keys.range === undefined)) {
    throw validationError(
      keys.range === undefined
        ? 'Query key condition not supported'
        : `Query condition missed key schema element: ${keys.range.name}`,
    );
  }
  if (condition === undefined || keys.range === undefined) {
    return { from: '', to: AFTER_ALL };
  }
  return rangeBounds(condition, keys.range.type);
}

/** Takes items up to the limit or 1 MB, then filters and projects. */
function page(input: QueryInput | ScanInput, source: Source, items: Iterable<Item>) {
  const taken: Item[] = [];
  let bytes = 0;
  let more = false;
  for (const item of items) {
    if (bytes >= PAGE_BYTES) {
      more = true;
      break;
    }
    taken.push(item);
    bytes += itemBytes(item);
    if (taken.length === input.Limit) {
      // The service doesn't look whether anything follows.
      more = true;
      break;
    }
  }
  const filter = input._filter;
  const kept = filter === undefined ? taken : taken.filter((item) => holds(filter.expression, item));
  const projection = input._projection;
  const last = more ? taken.at(-1) : undefined;
  const units = readUnits(bytes, input.ConsistentRead ?? false);
  const indexName = source.index?.definition.IndexName;
  const byIndex = indexName === undefined ? {} : { [indexName]: units };
  return {
    Items:
      input.Select === 'COUNT'
        ? undefined
        : projection === undefined
          ? kept
          : kept.map((item) => mapPaths(projection.paths, item)),
    Count: kept.length,
    ScannedCount: taken.length,
    LastEvaluatedKey: last === undefined ? undefined : keyOf(last, keyAttributes(source)),
    ConsumedCapacity: consumed(
      {
        table: source.table,
        units: indexName === undefined ? units : 0,
        global: source.index?.global === true ? byIndex : {},
        local: source.index?.global === false ? byIndex : {},
      },
      input.ReturnConsumedCapacity,
    ),
  };
}

function keyOf(item: Item, names: readonly string[]): Item {
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name)));
}

function refuseKeyFilter(input: QueryInput, { keys }: Source): void {
  for (const key of [keys.hash, keys.range]) {
    if (key !== undefined && input._filter?.pathHeads[key.name]) {
      throw validationError(
        'Filter Expression can only contain non-primary key attributes: ' +
          `Primary key attribute: ${key.name}`,
      );
    }
  }
}

export function query(store: Store, input: QueryInput) {
  const source = sourceOf(store, input);
  refuseKeyFilter(input, source);
  const partition = partitionOf(input, source);
  const bounds = boundsOf(input, source);
  const start = startPosition(source, input.ExclusiveStartKey);
  if (start !== undefined && start.partition !== partition) {
    throw validationError(
      'The provided starting key is outside query boundaries based on provided conditions',
    );
  }
  if (start !== undefined && (start.sort < bounds.from || start.sort >= bounds.to)) {
    throw validationError('The provided starting key does not match the range key predicate');
  }
  const reverse = input.ScanIndexForward === false;
  const rest = reverse
    ? { from: bounds.from, to: start?.sort ?? bounds.to }
    : { from: start === undefined ? bounds.from : `${start.sort}\0`, to: bounds.to };
  return page(input, source, source.items.query(partition, rest, reverse));
}

export function scan(store: Store, input: ScanInput) {
  const source = sourceOf(store, input);
  const segment = { index: input.Segment ?? 0, total: input.TotalSegments ?? 1 };
  const start = startPosition(source, input.ExclusiveStartKey);
  return page(input, source, source.items.scan(start, segment));
}
