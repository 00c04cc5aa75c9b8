import { mapPaths, validateItem, validateKey, validateKeyPaths, validateUpdates } from 'dynalite/db/index.js';
import { attributeOf } from './attribute-values.ts';
import { consumed, merged, writeUsage } from './capacity.ts';
import { holds } from './condition.ts';
import { conditionFailed, transactionConflict, validationError } from './errors.ts';
import { itemBytes, MAX_ITEM_BYTES } from './item-size.ts';
import { assertValid } from './requests.ts';
import type { Change, Store } from './store.ts';
import type { Table } from './table.ts';
import type {
  AttributeValue,
  BatchWriteItemInput,
  DeleteAction,
  DeleteItemInput,
  Item,
  ParsedCondition,
  PutAction,
  PutItemInput,
  ReturnOnFailure,
  UpdateAction,
  UpdateItemInput,
} from './types.ts';
import { applyUpdate } from './update.ts';

const MAX_HASH_BYTES = 2048;
const MAX_RANGE_BYTES = 1024;
const MAX_LEVELS = 32;

interface Guard {
  _condition?: ParsedCondition;
  ReturnValuesOnConditionCheckFailure?: ReturnOnFailure;
}

/** Throws ConditionalCheckFailedException, with the item that was there when the action asks for it. */
function checkCondition(table: Table, guard: Guard, old: Item | undefined): void {
  const condition = guard._condition;
  if (condition === undefined) {
    return;
  }
  assertValid(validateKeyPaths(condition.nestedPaths, table.definition));
  if (!holds(condition.expression, old ?? {})) {
    throw conditionFailed(guard.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' ? old : undefined);
  }
}

function keyBytes(item: Item, name: string): number {
  const value = attributeOf(item, name);
  return value !== undefined && 'S' in value ? Buffer.byteLength(value.S) : 0;
}

/** Key sizes count in bytes. */
function checkKeySizes(table: Table, item: Item): void {
  const { hash, range } = table.keys;
  if (keyBytes(item, hash.name) > MAX_HASH_BYTES) {
    throw validationError(
      'One or more parameter values were invalid: ' +
        'Size of hashkey has exceeded the maximum size limit of2048 bytes',
    );
  }
  if (range !== undefined && keyBytes(item, range.name) > MAX_RANGE_BYTES) {
    throw validationError(
      'One or more parameter values were invalid: ' +
        'Aggregated size of all range keys has exceeded the size limit of 1024 bytes',
    );
  }
}

/** An index key attribute may be absent but not empty. */
function checkIndexKeys(table: Table, item: Item): void {
  for (const index of table.indexes) {
    for (const key of [index.keys.hash, index.keys.range]) {
      const value = key === undefined ? undefined : attributeOf(item, key.name);
      if (key !== undefined && value !== undefined && 'S' in value && value.S === '') {
        throw validationError(
          'One or more parameter values are not valid. A value specified for a secondary index key is not ' +
            'supported. The AttributeValue for a key attribute cannot contain an empty string value. ' +
            `IndexName: ${index.definition.IndexName}, IndexKey: ${key.name}`,
        );
      }
    }
  }
}

function depthOf(value: AttributeValue): number {
  const children = 'L' in value ? value.L : 'M' in value ? Object.values(value.M) : [];
  return children.reduce((deepest, child) => Math.max(deepest, 1 + depthOf(child)), 0);
}

function checkNesting(item: Item): void {
  if (Object.values(item).some((value) => depthOf(value) > MAX_LEVELS)) {
    throw validationError(
      'Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond ' +
        'supported limit',
    );
  }
}

export function checkKey(table: Table, key: Item): void {
  assertValid(validateKey(key, table.definition));
  checkKeySizes(table, key);
}

function oldItem(table: Table, key: Item): Item | undefined {
  return table.items.get(table.position(key));
}

/** Checks the action against the table as it is and returns what it would change; writes nothing. */
export function planPut(table: Table, action: PutAction): Change {
  assertValid(validateItem(action.Item, table.definition));
  checkKeySizes(table, action.Item);
  checkIndexKeys(table, action.Item);
  checkNesting(action.Item);
  if (itemBytes(action.Item) > MAX_ITEM_BYTES) {
    throw validationError('Item size has exceeded the maximum allowed size');
  }
  const old = oldItem(table, action.Item);
  checkCondition(table, action, old);
  return { table, old, next: action.Item };
}

/** As `planPut`, for a delete. */
export function planDelete(table: Table, action: DeleteAction): Change {
  checkKey(table, action.Key);
  const old = oldItem(table, action.Key);
  checkCondition(table, action, old);
  return { table, old, next: undefined };
}

/** As `planPut`, for a condition check, which changes nothing. */
export function planCheck(table: Table, action: DeleteAction): Change {
  const { old } = planDelete(table, action);
  return { table, old, next: old };
}

/** As `planPut`, for an update. */
export function planUpdate(table: Table, action: UpdateAction): Change {
  checkKey(table, action.Key);
  assertValid(validateUpdates(undefined, action._updates, table.definition));
  const old = oldItem(table, action.Key);
  checkCondition(table, action, old);
  const next = applyUpdate(action._updates?.sections ?? [], old ?? action.Key);
  assertValid(validateItem(next, table.definition));
  checkIndexKeys(table, next);
  checkNesting(next);
  if (itemBytes(next) > MAX_ITEM_BYTES) {
    throw validationError('Item size to update has exceeded the maximum allowed size');
  }
  return { table, old, next };
}

/**
 * Carries out a lone write. An item that a transaction holds is refused with TransactionConflictException, as
 * the service does it, rather than made to wait. The plan is made when the write takes effect.
 */
async function writeAlone(store: Store, table: Table, at: Item, plan: () => Change): Promise<Change> {
  const id = store.holdId(table, at);
  if (store.holds.inTransaction(id)) {
    throw transactionConflict();
  }
  const milliseconds = store.options.latency.write?.() ?? 0;
  if (milliseconds > 0) {
    await store.holds.write(id, milliseconds);
  }
  const change = plan();
  store.commit([change]);
  return change;
}

export async function putItem(store: Store, input: PutItemInput) {
  const table = store.table(input.TableName);
  assertValid(validateItem(input.Item, table.definition));
  const change = await writeAlone(store, table, input.Item, () => planPut(table, input));
  return {
    Attributes: input.ReturnValues === 'ALL_OLD' ? change.old : undefined,
    ConsumedCapacity: consumed(writeUsage(change), input.ReturnConsumedCapacity),
  };
}

export async function deleteItem(store: Store, input: DeleteItemInput) {
  if (input.ReturnValues !== undefined && input.ReturnValues !== 'NONE' && input.ReturnValues !== 'ALL_OLD') {
    throw validationError('ReturnValues can only be ALL_OLD or NONE');
  }
  const table = store.table(input.TableName);
  checkKey(table, input.Key);
  const change = await writeAlone(store, table, input.Key, () => planDelete(table, input));
  return {
    Attributes: input.ReturnValues === 'ALL_OLD' ? change.old : undefined,
    ConsumedCapacity: consumed(writeUsage(change), input.ReturnConsumedCapacity),
  };
}

function updatedAttributes(input: UpdateItemInput, { old, next }: Change): Item | undefined {
  const paths = input._updates?.paths ?? [];
  switch (input.ReturnValues) {
    case 'ALL_OLD':
      return old;
    case 'ALL_NEW':
      return next;
    case 'UPDATED_OLD':
      return old === undefined ? undefined : nonEmpty(mapPaths(paths, old));
    case 'UPDATED_NEW':
      return next === undefined ? undefined : nonEmpty(mapPaths(paths, next));
    default:
      return undefined;
  }
}

function nonEmpty(item: Item): Item | undefined {
  return Object.keys(item).length === 0 ? undefined : item;
}

export async function updateItem(store: Store, input: UpdateItemInput) {
  const table = store.table(input.TableName);
  checkKey(table, input.Key);
  const change = await writeAlone(store, table, input.Key, () => planUpdate(table, input));
  return {
    Attributes: updatedAttributes(input, change),
    ConsumedCapacity: consumed(writeUsage(change), input.ReturnConsumedCapacity),
  };
}

const MAX_BATCH = 25;

export function batchWriteItem(store: Store, input: BatchWriteItemInput) {
  const seen = new Set<string>();
  const changes = Object.entries(input.RequestItems).flatMap(([tableName, requests]) => {
    const table = store.table(tableName);
    return requests.map(({ PutRequest, DeleteRequest }) => {
      const change =
        PutRequest === undefined
          ? planDelete(table, { TableName: tableName, Key: DeleteRequest?.Key ?? {} })
          : planPut(table, { TableName: tableName, Item: PutRequest.Item });
      const id = store.holdId(table, PutRequest?.Item ?? DeleteRequest?.Key ?? {});
      if (seen.has(id)) {
        throw validationError('Provided list of item keys contains duplicates');
      }
      if (store.holds.inTransaction(id)) {
        throw transactionConflict();
      }
      seen.add(id);
      return change;
    });
  });
  if (changes.length > MAX_BATCH) {
    throw validationError('Too many items requested for the BatchWriteItem call');
  }
  for (const change of changes) {
    store.commit([change]);
  }
  const usages = merged(changes.map(writeUsage)).map((usage) =>
    consumed(usage, input.ReturnConsumedCapacity),
  );
  return { UnprocessedItems: {}, ConsumedCapacity: usages.filter((usage) => usage !== undefined) };
}
