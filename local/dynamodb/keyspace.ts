import { hashPrefix, toRangeStr } from 'dynalite/db/index.js';
import { attributeOf } from './attribute-values.ts';
import { OrderedMap } from './ordered-map.ts';
import type { AttributeValue, CreateTableInput, Item, KeySchemaElement } from './types.ts';

/** Sorts after a key's digits and before the digits of a longer one. */
const END_OF_VALUE = '/';
/** Sorts after everything a key may hold. */
export const AFTER_ALL = '~';

/** Where an item stands: its partition and its place within. Both strings are derived from the key alone. */
export interface Position {
  readonly partition: string;
  readonly sort: string;
}

/** Name and type of the key attributes of a table or an index. */
export interface KeyNames {
  readonly hash: { readonly name: string; readonly type: string };
  readonly range: { readonly name: string; readonly type: string } | undefined;
}

export function keyNames(
  schema: readonly KeySchemaElement[],
  definitions: CreateTableInput['AttributeDefinitions'],
): KeyNames {
  const [hash, range] = schema.map(({ AttributeName: name }) => ({
    name,
    type: definitions.find((definition) => definition.AttributeName === name)?.AttributeType ?? 'S',
  }));
  if (hash === undefined) {
    throw new TypeError('A key schema without a hash key passed the validation');
  }
  return { hash, range };
}

/** The text of a key value; undefined where the attribute is absent or of another type. */
function textOf(value: AttributeValue | undefined, type: string): string | undefined {
  if (value === undefined) {
    return undefined;
  }
  if (type === 'S') {
    return 'S' in value ? value.S : undefined;
  }
  if (type === 'N') {
    return 'N' in value ? value.N : undefined;
  }
  return 'B' in value ? value.B : undefined;
}

/** The sortable text of one key value, closed so that equality and order are one string comparison. */
export function sortText(value: AttributeValue, type: string): string | undefined {
  const text = textOf(value, type);
  return text === undefined ? undefined : toRangeStr(text, type);
}

export function closed(text: string): string {
  return `${text}${END_OF_VALUE}`;
}

/** The item's place, or undefined where a key attribute is missing (a sparse index leaves it out). */
export function positionOf(item: Item, keys: KeyNames): Position | undefined {
  const partition = textOf(attributeOf(item, keys.hash.name), keys.hash.type);
  if (partition === undefined || partition === '') {
    return undefined;
  }
  if (keys.range === undefined) {
    return { partition, sort: '' };
  }
  const range = attributeOf(item, keys.range.name);
  const sort = range === undefined ? undefined : sortText(range, keys.range.type);
  return sort === undefined || sort === '' ? undefined : { partition, sort: closed(sort) };
}

/** Partitions of ordered items: what a table and each of its indexes are. */
export class Keyspace {
  readonly #partitions = new Map<string, OrderedMap<Item>>();
  readonly #hashType: string;
  #count = 0;

  constructor(hashType: string) {
    this.#hashType = hashType;
  }

  get count(): number {
    return this.#count;
  }

  get(position: Position): Item | undefined {
    return this.#partitions.get(position.partition)?.get(position.sort);
  }

  set(position: Position, item: Item): void {
    let partition = this.#partitions.get(position.partition);
    if (partition === undefined) {
      partition = new OrderedMap();
      this.#partitions.set(position.partition, partition);
    }
    const before = partition.size;
    partition.set(position.sort, item);
    this.#count += partition.size - before;
  }

  delete(position: Position): void {
    const partition = this.#partitions.get(position.partition);
    if (partition === undefined) {
      return;
    }
    const before = partition.size;
    partition.delete(position.sort);
    this.#count -= before - partition.size;
    if (partition.size === 0) {
      this.#partitions.delete(position.partition);
    }
  }

  /** One partition's items with `from <= sort < to`. */
  *query(
    partition: string,
    bounds: { readonly from: string; readonly to: string },
    reverse: boolean,
  ): Generator<Item> {
    for (const [, item] of this.#partitions.get(partition)?.range(bounds.from, bounds.to, reverse) ?? []) {
      yield item;
    }
  }

  /**
   * Every item, in the order of the partitions' hashes as the service scans: stable, and of no use to
   * whoever would rely on it. `after` is the last item already seen.
   */
  *scan(after: Position | undefined, segment: { index: number; total: number }): Generator<Item> {
    const start = after === undefined ? undefined : this.#place(after.partition);
    const places = [...this.#partitions.keys()]
      .map((partition) => ({ partition, place: this.#place(partition) }))
      .filter(({ place }) => segmentOf(place, segment.total) === segment.index)
      .filter(({ place }) => start === undefined || place >= start)
      .toSorted((left, right) => (left.place < right.place ? -1 : 1));
    for (const { partition, place } of places) {
      const from = after !== undefined && place === start ? `${after.sort}\0` : '';
      for (const [, item] of this.#partitions.get(partition)?.range(from, undefined, false) ?? []) {
        yield item;
      }
    }
  }

  #place(partition: string): string {
    return `${hashPrefix(partition, this.#hashType)}${partition}`;
  }
}

const HASH_SPACE = 0x1000000;
const HASH_DIGITS = 6;

function segmentOf(place: string, total: number): number {
  return Math.floor((Number.parseInt(place.slice(0, HASH_DIGITS), 16) * total) / HASH_SPACE);
}
