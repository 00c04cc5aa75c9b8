import { mapPaths, validateKeyPaths } from 'dynalite/db/index.js';
import { consumed, merged, readUsage, transactionalReadUnits, transactionalWriteUsage } from './capacity.ts';
import type { CancellationReason } from './errors.ts';
import { DynamoDbError, transactionCanceled, validationError } from './errors.ts';
import { itemBytes } from './item-size.ts';
import { assertValid } from './requests.ts';
import type { Change, Store } from './store.ts';
import type { Table } from './table.ts';
import type {
  GetAction,
  Item,
  TransactGetItemsInput,
  TransactWriteAction,
  TransactWriteItemsInput,
} from './types.ts';
import { checkKey, planCheck, planDelete, planPut, planUpdate } from './writes.ts';

const MAX_TRANSACTION_BYTES = 4 * 1024 * 1024;

interface Target {
  readonly table: Table;
  /** An item or key that names the place. */
  readonly at: Item;
  readonly plan: () => Change;
}

function target(store: Store, { Put, Update, Delete, ConditionCheck }: TransactWriteAction): Target {
  if (Put !== undefined) {
    const table = store.table(Put.TableName);
    return { table, at: Put.Item, plan: () => planPut(table, Put) };
  }
  if (Update !== undefined) {
    const table = store.table(Update.TableName);
    return { table, at: Update.Key, plan: () => planUpdate(table, Update) };
  }
  if (Delete !== undefined) {
    const table = store.table(Delete.TableName);
    return { table, at: Delete.Key, plan: () => planDelete(table, Delete) };
  }
  if (ConditionCheck !== undefined) {
    const table = store.table(ConditionCheck.TableName);
    return { table, at: ConditionCheck.Key, plan: () => planCheck(table, ConditionCheck) };
  }
  throw validationError('A transaction action is empty');
}

/** The place an action names, or undefined where its key is wrong: then its plan says how. */
function holdId(store: Store, table: Table, at: Item): string | undefined {
  try {
    checkKey(table, table.keyOf(at));
    return store.holdId(table, at);
  } catch (error) {
    if (error instanceof DynamoDbError) {
      return undefined;
    }
    throw error;
  }
}

function refuseDuplicates(ids: readonly (string | undefined)[]): void {
  const present = ids.filter((id) => id !== undefined);
  if (new Set(present).size < present.length) {
    throw validationError('Transaction request cannot include multiple operations on one item');
  }
}

const CONFLICT: CancellationReason = {
  Code: 'TransactionConflict',
  Message: 'Transaction is ongoing for the item',
};
const NONE: CancellationReason = { Code: 'None' };

/** The reason that an action's error becomes. Errors that are none of one action are thrown on. */
function reasonOf(error: unknown): CancellationReason {
  if (error instanceof DynamoDbError && error.name === 'ConditionalCheckFailedException') {
    return { Code: 'ConditionalCheckFailed', Message: error.message, ...error.members };
  }
  if (error instanceof DynamoDbError && error.name === 'ValidationException') {
    return { Code: 'ValidationError', Message: error.message };
  }
  throw error;
}

/** Plans every action against the tables as they are; throws TransactionCanceledException if any fails. */
function planAll(store: Store, targets: readonly Target[], ids: readonly (string | undefined)[]): Change[] {
  const changes: Change[] = [];
  const reasons = targets.map((each, index) => {
    const id = ids[index];
    if (id !== undefined && store.holds.inProgress(id)) {
      return CONFLICT;
    }
    try {
      changes.push(each.plan());
      return NONE;
    } catch (error) {
      return reasonOf(error);
    }
  });
  if (reasons.some((reason) => reason !== NONE)) {
    throw transactionCanceled(reasons);
  }
  return changes;
}

function mismatch(): DynamoDbError {
  return new DynamoDbError(
    'IdempotentParameterMismatchException',
    'Request token has already been used with different parameters',
  );
}

/**
 * Whether the transaction of this token has been carried out already. Throws
 * IdempotentParameterMismatchException for other parameters and TransactionInProgressException for the
 * same ones while the first is under way.
 */
function isRepetition(store: Store, token: string, requestHash: string): boolean {
  const finished = store.token(token);
  const running = store.pendingTokens.get(token);
  const earlier = finished?.requestHash ?? running;
  if (earlier !== undefined && earlier !== requestHash) {
    throw mismatch();
  }
  if (running !== undefined) {
    throw new DynamoDbError(
      'TransactionInProgressException',
      'The transaction with the given request token is already in progress',
    );
  }
  return finished !== undefined;
}

function writeAnswer(changes: readonly Change[], input: TransactWriteItemsInput) {
  const usages = merged(changes.map(transactionalWriteUsage)).map((usage) =>
    consumed(usage, input.ReturnConsumedCapacity, 'WriteCapacityUnits'),
  );
  const present = usages.filter((usage) => usage !== undefined);
  return present.length === 0 ? {} : { ConsumedCapacity: present };
}

/** The repetition of a finished transaction writes nothing and costs reads. */
function repetitionAnswer(targets: readonly Target[], input: TransactWriteItemsInput) {
  const usages = targets.map(({ table, at }) =>
    readUsage(table, transactionalReadUnits(table.items.get(table.position(at)))),
  );
  const present = merged(usages)
    .map((usage) => consumed(usage, input.ReturnConsumedCapacity, 'ReadCapacityUnits'))
    .filter((usage) => usage !== undefined);
  return present.length === 0 ? {} : { ConsumedCapacity: present };
}

function refuseOversize(changes: readonly Change[]): void {
  const bytes = changes.reduce((sum, { old, next }) => sum + itemBytes(next ?? old ?? {}), 0);
  if (bytes > MAX_TRANSACTION_BYTES) {
    throw validationError('Transaction payload size cannot exceed the size limit of 4194304 bytes');
  }
}

/**
 * All actions or none. Every condition is checked before anything is written, and all items are taken in
 * one step (so there is no order in which two transactions could block each other): an item that another
 * transaction holds cancels this one at once, as the service does. While the latency lasts, the items stay
 * held: lone writes to them and other transactions on them are refused, reads see the state before.
 */
export async function transactWriteItems(store: Store, input: TransactWriteItemsInput) {
  const targets = input.TransactItems.map((action) => target(store, action));
  const ids = targets.map(({ table, at }) => holdId(store, table, at));
  refuseDuplicates(ids);
  const { ClientRequestToken: token, requestHash = '' } = input;
  if (token !== undefined && isRepetition(store, token, requestHash)) {
    return repetitionAnswer(targets, input);
  }
  const changes = planAll(store, targets, ids);
  refuseOversize(changes);
  const milliseconds = store.options.latency.transaction?.() ?? 0;
  if (milliseconds > 0) {
    if (token !== undefined) {
      store.pendingTokens.set(token, requestHash);
    }
    try {
      await store.holds.transaction(
        ids.filter((id) => id !== undefined),
        milliseconds,
      );
    } finally {
      if (token !== undefined) {
        store.pendingTokens.delete(token);
      }
    }
  }
  store.commit(
    changes,
    token === undefined ? {} : { token: { token, requestHash, at: store.options.clock.now() } },
  );
  return writeAnswer(changes, input);
}

interface Read {
  readonly table: Table;
  readonly action: GetAction;
}

/** Reads all items as of one moment; cancelled where a transaction in progress holds one of them. */
export function transactGetItems(store: Store, input: TransactGetItemsInput) {
  const reads = input.TransactItems.flatMap(({ Get: action }): Read[] =>
    action === undefined ? [] : [{ table: store.table(action.TableName), action }],
  );
  const ids = reads.map(({ table, action }) => holdId(store, table, action.Key));
  refuseDuplicates(ids);
  const items: (Item | undefined)[] = [];
  const reasons = reads.map(({ table, action }, index) => {
    const id = ids[index];
    if (id !== undefined && store.holds.inProgress(id)) {
      return CONFLICT;
    }
    try {
      checkKey(table, action.Key);
      assertValid(validateKeyPaths(action._projection?.nestedPaths, table.definition));
      items.push(table.items.get(table.position(action.Key)));
      return NONE;
    } catch (error) {
      return reasonOf(error);
    }
  });
  if (reasons.some((reason) => reason !== NONE)) {
    throw transactionCanceled(reasons);
  }
  const usages = reads.map(({ table }, index) => readUsage(table, transactionalReadUnits(items[index])));
  const capacity = merged(usages)
    .map((usage) => consumed(usage, input.ReturnConsumedCapacity, 'ReadCapacityUnits'))
    .filter((usage) => usage !== undefined);
  return {
    Responses: reads.map(({ action }, index) => {
      const item = items[index];
      if (item === undefined) {
        return {};
      }
      return { Item: action._projection === undefined ? item : mapPaths(action._projection.paths, item) };
    }),
    ...(capacity.length === 0 ? {} : { ConsumedCapacity: capacity }),
  };
}
