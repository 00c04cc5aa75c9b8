import type { DomainTable } from './domain-table.ts';
import type { PayloadRef } from './envelope.ts';
import type { ItemKey } from './table.ts';

/** An item with native values: strings, numbers, bigints beyond 2^53, booleans, null, arrays, objects. */
export type Row = Readonly<Record<string, unknown>>;

/** Strongly consistent reads of the worker's table. */
export interface RowReader {
  /** The items of `keys`, in their order. */
  read(keys: readonly ItemKey[]): Promise<readonly (Row | undefined)[]>;
  /** Items of one partition whose sort key lies in `from`…`to`, ascending, at most `limit`. */
  range(partitionKey: string, from: string, to: string, limit: number): Promise<readonly Row[]>;
  /** Whether an inbox row stands under this place of the `byAggregate` index (eventually consistent). */
  hasMessage(aggregate: string, aggregateOrder: string): Promise<boolean>;
}

/** An aggregate in a table of its own. */
export interface DomainItem {
  readonly domain: DomainTable;
  readonly key: Readonly<Record<string, string>>;
  readonly item: Row | undefined;
}

/** Strongly consistent reads of aggregates that live in tables of their own. */
export interface DomainReader {
  /** Undefined when the type lives in the worker's table. */
  find(aggregateType: string, aggregateId: string): Promise<DomainItem | undefined>;
}

export type FetchedObject =
  | { readonly status: 'found'; readonly bytes: Uint8Array }
  | { readonly status: 'notFound' }
  | { readonly status: 'denied' }
  | { readonly status: 'tooLarge'; readonly bytes: number };

/** Objects that `payloadRef` may name. */
export interface PayloadReader {
  /** Whether the worker was given this bucket. */
  allows(bucket: string): boolean;
  fetch(ref: PayloadRef, maxBytes: number): Promise<FetchedObject>;
}

/** Reads attributes of a row, whose types the table does not promise. */
export const textOf = (row: Row | undefined, attribute: string): string | undefined => {
  const value = row?.[attribute];
  return typeof value === 'string' ? value : undefined;
};

export const numberOf = (row: Row | undefined, attribute: string): number | undefined => {
  const value = row?.[attribute];
  return typeof value === 'number' ? value : undefined;
};
