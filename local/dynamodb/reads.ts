import { mapPaths, validateKeyPaths } from 'dynalite/db/index.js';
import { consumed, merged, readUnits, readUsage } from './capacity.ts';
import { itemBytes } from './item-size.ts';
import { assertValid } from './requests.ts';
import type { Store } from './store.ts';
import type { BatchGetItemInput, GetItemInput, Item } from './types.ts';
import { checkKey } from './writes.ts';

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

function read(item: Item | undefined, consistent: boolean): number {
  return readUnits(item === undefined ? 0 : itemBytes(item), consistent);
}

export function getItem(store: Store, input: GetItemInput) {
  const table = store.table(input.TableName);
  checkKey(table, input.Key);
  assertValid(validateKeyPaths(input._projection?.nestedPaths, table.definition));
  const item = table.items.get(table.position(input.Key));
  const { _projection: projection, ReturnConsumedCapacity: asked } = input;
  return {
    Item: item === undefined || projection === undefined ? item : mapPaths(projection.paths, item),
    ConsumedCapacity:
      asked === undefined
        ? undefined
        : consumed(readUsage(table, read(item, input.ConsistentRead ?? false)), asked),
  };
}

export function batchGetItem(store: Store, input: BatchGetItemInput) {
  const responses: Record<string, Item[]> = {};
  const unprocessed: Record<string, object> = {};
  let bytes = 0;
  const usages = Object.entries(input.RequestItems).map(([tableName, request]) => {
    const table = store.table(tableName);
    const { Keys, ConsistentRead = false, _projection: projection, ...others } = request;
    for (const key of Keys) {
      checkKey(table, key);
    }
    const found: Item[] = [];
    const left: Item[] = [];
    let units = 0;
    for (const key of Keys) {
      const item = table.items.get(table.position(key));
      const size = item === undefined ? 0 : itemBytes(item);
      if (bytes + size > MAX_ANSWER_BYTES) {
        left.push(key);
        continue;
      }
      bytes += size;
      units += readUnits(size, ConsistentRead);
      if (item !== undefined) {
        found.push(projection === undefined ? item : mapPaths(projection.paths, item));
      }
    }
    responses[tableName] = found;
    if (left.length > 0) {
      unprocessed[tableName] = { ...others, Keys: left, ConsistentRead };
    }
    return readUsage(table, units);
  });
  const capacity = merged(usages)
    .map((usage) => consumed(usage, input.ReturnConsumedCapacity))
    .filter((usage) => usage !== undefined);
  return {
    Responses: responses,
    UnprocessedKeys: unprocessed,
    ...(capacity.length === 0 ? {} : { ConsumedCapacity: capacity }),
  };
}
