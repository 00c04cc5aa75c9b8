import * as batchGetItem from 'dynalite/validations/batchGetItem.js';
import * as batchWriteItem from 'dynalite/validations/batchWriteItem.js';
import * as createTable from 'dynalite/validations/createTable.js';
import * as deleteItem from 'dynalite/validations/deleteItem.js';
import * as getItem from 'dynalite/validations/getItem.js';
import type { Custom, TypeTable } from 'dynalite/validations/index.js';
import { checkTypes, checkValidations } from 'dynalite/validations/index.js';
import * as putItem from 'dynalite/validations/putItem.js';
import * as query from 'dynalite/validations/query.js';
import * as scan from 'dynalite/validations/scan.js';
import * as updateItem from 'dynalite/validations/updateItem.js';
import { DynamoDbError, unsupported, validationError } from './errors.ts';
import { requestHash } from './request-hash.ts';
import type {
  BatchGetItemInput,
  BatchWriteItemInput,
  CreateTableInput,
  DeleteItemInput,
  GetItemInput,
  PutItemInput,
  QueryInput,
  ScanInput,
  TransactGetItemsInput,
  TransactWriteItemsInput,
  UpdateItemInput,
} from './types.ts';

/** Item sizes are measured here by the service's rules, not by the validations'. */
const NO_SIZE_LIMIT = { options: { maxItemSize: Number.POSITIVE_INFINITY } };

const LEGACY: Readonly<Record<string, string>> = {
  Expected: 'ConditionExpression',
  ConditionalOperator: 'ConditionExpression',
  AttributeUpdates: 'UpdateExpression',
  AttributesToGet: 'ProjectionExpression',
  KeyConditions: 'KeyConditionExpression',
  QueryFilter: 'FilterExpression',
  ScanFilter: 'FilterExpression',
};

const FAILURE_VALUES: TypeTable = {
  ReturnValuesOnConditionCheckFailure: { type: 'String', enum: ['ALL_OLD', 'NONE'] },
};

const TABLE_OPTIONS: TypeTable = {
  StreamSpecification: {
    type: 'FieldStruct<StreamSpecification>',
    children: {
      StreamEnabled: { type: 'Boolean', notNull: true },
      StreamViewType: {
        type: 'String',
        enum: ['NEW_IMAGE', 'OLD_IMAGE', 'NEW_AND_OLD_IMAGES', 'KEYS_ONLY'],
      },
    },
  },
  SSESpecification: {
    type: 'FieldStruct<SSESpecification>',
    children: { Enabled: 'Boolean', SSEType: 'String', KMSMasterKeyId: 'String' },
  },
  DeletionProtectionEnabled: 'Boolean',
  Tags: {
    type: 'List',
    children: {
      type: 'ValueStruct<Tag>',
      children: { Key: { type: 'String', notNull: true }, Value: { type: 'String', notNull: true } },
    },
  },
};

interface Spec {
  readonly types: TypeTable;
  readonly custom: Custom | undefined;
}

/** A member that no table knows is a part of the API left out here; the SDKs send no others. */
function refuseUnknown(data: object, types: TypeTable, where: string): void {
  for (const [name, value] of Object.entries(data)) {
    if (value === null || value === undefined) {
      continue;
    }
    if (name === 'ReturnItemCollectionMetrics' && value !== 'NONE') {
      throw unsupported(`The parameter ${where}${name}`, 'leave it out');
    }
    const replacement = LEGACY[name];
    if (replacement !== undefined) {
      throw unsupported(`The legacy parameter ${where}${name}`, `use ${replacement}`);
    }
    if (types[name] === undefined) {
      throw unsupported(`The parameter ${where}${name}`, 'leave it out');
    }
  }
}

function nameOf(type: string): string {
  return type.slice(type.indexOf('#') + 1);
}

/** Turns an error that dynalite returned or threw into one of ours; anything else is a bug and stays. */
function translated(error: unknown): unknown {
  if (error instanceof DynamoDbError || !(error instanceof Error) || !('body' in error)) {
    return error;
  }
  const { body } = error;
  if (typeof body !== 'object' || body === null || !('__type' in body)) {
    return error;
  }
  return new DynamoDbError(nameOf(String(body.__type)), error.message);
}

/** Throws what a dynalite check returned, if it returned an error. */
export function assertValid(invalid: Error | null | undefined): void {
  if (invalid) {
    throw translated(invalid);
  }
}

function parse<Input extends object>(data: object, spec: Spec, where = ''): Input {
  refuseUnknown(data, spec.types, where);
  try {
    const input = checkTypes<Input>(data, spec.types);
    checkValidations(input, spec.types, spec.custom, NO_SIZE_LIMIT);
    return input;
  } catch (error) {
    throw translated(error);
  }
}

function pick(types: TypeTable, names: readonly string[]): TypeTable {
  return Object.fromEntries(Object.entries(types).filter(([name]) => names.includes(name)));
}

const EXPRESSION_MEMBERS = [
  'TableName',
  'ConditionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
];
const PUT_TYPES = { ...pick(putItem.types, ['Item', ...EXPRESSION_MEMBERS]), ...FAILURE_VALUES };
const DELETE_TYPES = { ...pick(deleteItem.types, ['Key', ...EXPRESSION_MEMBERS]), ...FAILURE_VALUES };
const UPDATE_TYPES = {
  ...pick(updateItem.types, ['Key', ...EXPRESSION_MEMBERS]),
  UpdateExpression: { type: 'String', notNull: true },
  ...FAILURE_VALUES,
};
const CHECK_TYPES = { ...DELETE_TYPES, ConditionExpression: { type: 'String', notNull: true } };
const GET_TYPES = pick(getItem.types, [
  'Key',
  'TableName',
  'ProjectionExpression',
  'ExpressionAttributeNames',
]);

const WRITE_ACTIONS = {
  Put: { types: PUT_TYPES, custom: putItem.custom },
  Update: { types: UPDATE_TYPES, custom: updateItem.custom },
  Delete: { types: DELETE_TYPES, custom: deleteItem.custom },
  ConditionCheck: { types: CHECK_TYPES, custom: deleteItem.custom },
} satisfies Record<string, Spec>;
const GET_ACTIONS = { Get: { types: GET_TYPES, custom: getItem.custom } } satisfies Record<string, Spec>;

const MAX_ACTIONS = 100;

function transactItems(actions: Readonly<Record<string, Spec>>): TypeTable {
  return {
    TransactItems: {
      type: 'List',
      notNull: true,
      lengthGreaterThanOrEqual: 1,
      lengthLessThanOrEqual: MAX_ACTIONS,
      children: {
        type: 'ValueStruct<TransactItem>',
        children: Object.fromEntries(
          Object.entries(actions).map(([name, { types }]) => [
            name,
            { type: `FieldStruct<${name}>`, children: types },
          ]),
        ),
      },
    },
    ReturnConsumedCapacity: { type: 'String', enum: ['INDEXES', 'TOTAL', 'NONE'] },
  };
}

const TRANSACT_WRITE_TYPES: TypeTable = {
  ...transactItems(WRITE_ACTIONS),
  ClientRequestToken: { type: 'String', lengthGreaterThanOrEqual: 1, lengthLessThanOrEqual: 36 },
};
const TRANSACT_GET_TYPES = transactItems(GET_ACTIONS);

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Checks each action by the rules of the single-item operation of the same kind. */
function checkActions(items: readonly object[], actions: Readonly<Record<string, Spec>>): void {
  const names = Object.keys(actions);
  for (const item of items) {
    const present = Object.entries(item);
    const [first] = present;
    if (first === undefined || present.length > 1) {
      throw validationError(`TransactItems can only contain one of ${names.join(', ')}`);
    }
    const custom = actions[first[0]]?.custom;
    const message = isObject(first[1]) ? custom?.(first[1], NO_SIZE_LIMIT) : undefined;
    if (message) {
      throw validationError(message);
    }
  }
}

/** Members that an action's table doesn't know, found before the types are narrowed to the table. */
function refuseUnknownActions(data: object, actions: Readonly<Record<string, Spec>>): void {
  const items = 'TransactItems' in data && Array.isArray(data.TransactItems) ? data.TransactItems : [];
  items.forEach((item: unknown, index) => {
    for (const [name, action] of isObject(item) ? Object.entries(item) : []) {
      const spec = actions[name];
      if (spec === undefined) {
        throw unsupported(`The action TransactItems[${index}].${name}`, 'leave it out');
      }
      if (isObject(action)) {
        refuseUnknown(action, spec.types, `TransactItems[${index}].${name}.`);
      }
    }
  });
}

export function parseTransactWriteItems(data: object): TransactWriteItemsInput {
  refuseUnknownActions(data, WRITE_ACTIONS);
  // Taken of the actions as sent, before the parsed expressions are added to them.
  const hash = 'ClientRequestToken' in data && 'TransactItems' in data ? requestHash(data.TransactItems) : '';
  const input = parse<TransactWriteItemsInput>(data, { types: TRANSACT_WRITE_TYPES, custom: undefined });
  checkActions(input.TransactItems, WRITE_ACTIONS);
  return { ...input, requestHash: hash };
}

export function parseTransactGetItems(data: object): TransactGetItemsInput {
  refuseUnknownActions(data, GET_ACTIONS);
  const input = parse<TransactGetItemsInput>(data, { types: TRANSACT_GET_TYPES, custom: undefined });
  checkActions(input.TransactItems, GET_ACTIONS);
  return input;
}

export function parsePutItem(data: object): PutItemInput {
  return parse(data, { types: { ...putItem.types, ...FAILURE_VALUES }, custom: putItem.custom });
}

export function parseUpdateItem(data: object): UpdateItemInput {
  return parse(data, { types: { ...updateItem.types, ...FAILURE_VALUES }, custom: updateItem.custom });
}

export function parseDeleteItem(data: object): DeleteItemInput {
  return parse(data, { types: { ...deleteItem.types, ...FAILURE_VALUES }, custom: deleteItem.custom });
}

export function parseGetItem(data: object): GetItemInput {
  return parse(data, getItem);
}

export function parseBatchGetItem(data: object): BatchGetItemInput {
  return parse(data, batchGetItem);
}

export function parseBatchWriteItem(data: object): BatchWriteItemInput {
  return parse(data, batchWriteItem);
}

export function parseQuery(data: object): QueryInput {
  return parse(data, query);
}

export function parseScan(data: object): ScanInput {
  return parse(data, { types: { ...scan.types, ConsistentRead: 'Boolean' }, custom: scan.custom });
}

export function parseCreateTable(data: object): CreateTableInput {
  return parse(data, { types: { ...createTable.types, ...TABLE_OPTIONS }, custom: createTable.custom });
}

const TABLE_NAME: TypeTable = { TableName: { type: 'String', notNull: true, regex: '[a-zA-Z0-9_.-]+' } };

export function parseTableName(data: object): { TableName: string } {
  return parse(data, { types: TABLE_NAME, custom: undefined });
}

export function parseListTables(data: object): { ExclusiveStartTableName?: string; Limit?: number } {
  return parse(data, {
    types: {
      ExclusiveStartTableName: 'String',
      Limit: { type: 'Integer', greaterThanOrEqual: 1, lessThanOrEqual: 100 },
    },
    custom: undefined,
  });
}

export function parseTags(data: object): { ResourceArn: string } {
  return parse(data, {
    types: { ResourceArn: { type: 'String', notNull: true }, NextToken: 'String' },
    custom: undefined,
  });
}

export function parseUpdateTimeToLive(data: object): {
  TableName: string;
  TimeToLiveSpecification: { AttributeName: string; Enabled: boolean };
} {
  return parse(data, {
    types: {
      ...TABLE_NAME,
      TimeToLiveSpecification: {
        type: 'FieldStruct<TimeToLiveSpecification>',
        notNull: true,
        children: {
          AttributeName: { type: 'String', notNull: true, lengthGreaterThanOrEqual: 1 },
          Enabled: { type: 'Boolean', notNull: true },
        },
      },
    },
    custom: undefined,
  });
}

export function parseUpdateContinuousBackups(data: object): {
  TableName: string;
  PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: boolean; RecoveryPeriodInDays?: number };
} {
  return parse(data, {
    types: {
      ...TABLE_NAME,
      PointInTimeRecoverySpecification: {
        type: 'FieldStruct<PointInTimeRecoverySpecification>',
        notNull: true,
        children: {
          PointInTimeRecoveryEnabled: { type: 'Boolean', notNull: true },
          RecoveryPeriodInDays: 'Integer',
        },
      },
    },
    custom: undefined,
  });
}
