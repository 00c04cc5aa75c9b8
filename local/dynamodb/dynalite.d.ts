// The part of dynalite's untyped CommonJS modules that the embedded store builds on.

declare module 'dynalite/validations/index.js' {
  /** A member's type and constraints in dynalite's own notation. */
  export type MemberType = string | { readonly type: string; readonly [constraint: string]: unknown };
  export type TypeTable = Readonly<Record<string, MemberType>>;
  export interface Limits {
    readonly options: { readonly maxItemSize: number };
  }
  /** Checks what the type table can't say and puts parsed expressions into the request. */
  export type Custom = (data: object, limits: Limits) => string | undefined;

  /** Returns the request with only the members the table names; throws on a wrong JSON type. */
  export function checkTypes<Input extends object>(data: object, types: TypeTable): Input;
  /** Throws on the first violated constraint. */
  export function checkValidations(
    data: object,
    types: TypeTable,
    custom: Custom | undefined,
    limits: Limits,
  ): void;
}

declare module 'dynalite/validations/putItem.js' {
  import type { Custom, TypeTable } from 'dynalite/validations/index.js';
  export const types: TypeTable;
  export const custom: Custom;
}
declare module 'dynalite/validations/updateItem.js' {
  export * from 'dynalite/validations/putItem.js';
}
declare module 'dynalite/validations/deleteItem.js' {
  export * from 'dynalite/validations/putItem.js';
}
declare module 'dynalite/validations/getItem.js' {
  export * from 'dynalite/validations/putItem.js';
}
declare module 'dynalite/validations/batchGetItem.js' {
  export * from 'dynalite/validations/putItem.js';
}
declare module 'dynalite/validations/batchWriteItem.js' {
  export * from 'dynalite/validations/putItem.js';
}
declare module 'dynalite/validations/query.js' {
  export * from 'dynalite/validations/putItem.js';
}
declare module 'dynalite/validations/scan.js' {
  export * from 'dynalite/validations/putItem.js';
}
declare module 'dynalite/validations/createTable.js' {
  export * from 'dynalite/validations/putItem.js';
}

declare module 'dynalite/db/index.js' {
  interface Key {
    readonly AttributeName: string;
  }
  interface TableSchema {
    readonly KeySchema: readonly Key[];
    readonly AttributeDefinitions: readonly Key[];
    readonly GlobalSecondaryIndexes?: readonly object[];
    readonly LocalSecondaryIndexes?: readonly object[];
  }
  type Invalid = Error | null | undefined;

  export function validateKey(key: object, table: TableSchema, keySchema?: readonly Key[]): Invalid;
  export function validateItem(item: object, table: TableSchema): Invalid;
  export function validateUpdates(
    legacy: undefined,
    updates: object | undefined,
    table: TableSchema,
  ): Invalid;
  export function validateKeyPaths(
    nestedPaths: Readonly<Record<string, boolean>> | undefined,
    table: TableSchema,
  ): Invalid;
  /** A string that sorts as the key value does; hexadecimal digits only for strings and binaries. */
  export function toRangeStr(value: string, type: string): string;
  /** Six hexadecimal digits that stand for a key value's place in the hash space. */
  export function hashPrefix(value: string, type: string): string;
  /** The item cut down to the paths. */
  export function mapPaths<Value>(
    paths: readonly (readonly (string | number)[])[],
    item: Readonly<Record<string, Value>>,
  ): Record<string, Value>;
}
