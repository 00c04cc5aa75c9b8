import type { Clock, NewId } from '../../lambdas/core/clock.ts';
import type { EdgeRequest, EdgeResponse } from '../edge/http.ts';
import { bodyText, jsonResponse } from '../edge/http.ts';
import type { EdgeServer } from '../edge/http-server.ts';
import { listenOnLoopback } from '../edge/http-server.ts';
import type { StreamRead } from './change-stream.ts';
import { DynamoDbError, validationError } from './errors.ts';
import type { Latency } from './holds.ts';
import { Journal } from './journal.ts';
import { query, scan } from './queries.ts';
import { batchGetItem, getItem } from './reads.ts';
import * as parse from './requests.ts';
import { Store } from './store.ts';
import * as tables from './tables.ts';
import { transactGetItems, transactWriteItems } from './transactions.ts';
import { batchWriteItem, deleteItem, putItem, updateItem } from './writes.ts';

const TARGET_PREFIX = 'DynamoDB_20120810.';
const DEFAULT_STREAM_RECORDS = 100_000;
const DEFAULT_READ_LIMIT = 1000;

export interface DynamoDbOptions {
  /** Where every time comes from: creation, stream records, token and stream retention, transactions. */
  readonly clock: Clock;
  readonly newId: NewId;
  /** @default 'us-east-1' */
  readonly region?: string;
  /** @default '000000000000' */
  readonly accountId?: string;
  /** Directory that keeps the store across restarts, created when missing. @default memory only */
  readonly dataDir?: string;
  /** How long writes take, so that they overlap and conflict. @default nothing takes any time */
  readonly latency?: Latency;
  /** Most records kept for each table's stream; the oldest go first. @default 100000 */
  readonly maxStreamRecords?: number;
}

interface DynamoDbRequest {
  /** The `X-Amz-Target` header, e.g. `DynamoDB_20120810.GetItem`. */
  readonly target: string;
  /** The JSON text of the request. */
  readonly body: string;
}

interface ReadStreamOptions {
  readonly tableName: string;
  /** The last number already seen. @default the oldest record kept */
  readonly afterSequenceNumber?: string | undefined;
  /** @default 1000 */
  readonly limit?: number;
}

/** An embedded DynamoDB: one account in one region. */
export interface DynamoDb {
  /** Answers one API request. A faulty request gets an error answer; rejects only for faults of the store. */
  handle(request: DynamoDbRequest): Promise<EdgeResponse>;
  /** The same for a request of the local edge; put it behind a router, a listener or an SDK client. */
  dispatch(request: EdgeRequest): Promise<EdgeResponse>;
  /** Serves the API on 127.0.0.1 until `close`. Rejects when the port is taken. `port` is 0 by default: any free one. */
  listen(options?: { readonly port?: number }): Promise<EdgeServer>;
  /**
   * Reads a table's change stream. Records are kept for 24 hours and up to `maxStreamRecords`.
   * Throws ResourceNotFoundException without such a table and an Error when it has no stream.
   */
  readStream(options: ReadStreamOptions): StreamRead;
  /** Calls `listener` with the table's name right after each commit; returns how to stop. */
  onChange(listener: (tableName: string) => void): () => void;
  /** Deletes what time-to-live makes due at `now` (epoch milliseconds); returns how many items went. */
  expire(now: number): number;
  /** Stops the servers and closes the data directory. */
  close(): Promise<void>;
}

type Operation = (store: Store, data: object) => object | Promise<object>;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  BatchGetItem: (store, data) => batchGetItem(store, parse.parseBatchGetItem(data)),
  BatchWriteItem: (store, data) => batchWriteItem(store, parse.parseBatchWriteItem(data)),
  CreateTable: (store, data) => tables.createTable(store, parse.parseCreateTable(data)),
  DeleteItem: (store, data) => deleteItem(store, parse.parseDeleteItem(data)),
  DeleteTable: (store, data) => tables.deleteTable(store, parse.parseTableName(data)),
  DescribeContinuousBackups: (store, data) =>
    tables.describeContinuousBackups(store, parse.parseTableName(data)),
  DescribeTable: (store, data) => tables.describeTable(store, parse.parseTableName(data)),
  DescribeTimeToLive: (store, data) => tables.describeTimeToLive(store, parse.parseTableName(data)),
  GetItem: (store, data) => getItem(store, parse.parseGetItem(data)),
  ListTables: (store, data) => tables.listTables(store, parse.parseListTables(data)),
  ListTagsOfResource: (store, data) => tables.listTagsOfResource(store, parse.parseTags(data)),
  PutItem: (store, data) => putItem(store, parse.parsePutItem(data)),
  Query: (store, data) => query(store, parse.parseQuery(data)),
  Scan: (store, data) => scan(store, parse.parseScan(data)),
  TransactGetItems: (store, data) => transactGetItems(store, parse.parseTransactGetItems(data)),
  TransactWriteItems: (store, data) => transactWriteItems(store, parse.parseTransactWriteItems(data)),
  UpdateContinuousBackups: (store, data) =>
    tables.updateContinuousBackups(store, parse.parseUpdateContinuousBackups(data)),
  UpdateItem: (store, data) => updateItem(store, parse.parseUpdateItem(data)),
  UpdateTimeToLive: (store, data) => tables.updateTimeToLive(store, parse.parseUpdateTimeToLive(data)),
};

function operationOf(target: string): Operation {
  const name = target.startsWith(TARGET_PREFIX) ? target.slice(TARGET_PREFIX.length) : '';
  const operation = Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name] : undefined;
  if (operation === undefined) {
    throw new DynamoDbError(
      'UnknownOperationException',
      `The embedded DynamoDB has no operation ${target}; it has ${Object.keys(OPERATIONS).join(', ')}`,
    );
  }
  return operation;
}

/** Whether any object inside has a member of this name. */
function hasMember(value: unknown, name: string): boolean {
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  return Object.hasOwn(value, name) || Object.values(value).some((inner) => hasMember(inner, name));
}

function parseBody(body: string): object {
  let data: unknown;
  try {
    data = JSON.parse(body);
  } catch {
    throw new DynamoDbError('SerializationException', 'The request body is no JSON');
  }
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    throw new DynamoDbError('SerializationException', 'The request body is no JSON object');
  }
  if (body.includes('"":') && hasMember(data, '')) {
    throw validationError('One or more parameter values were invalid: Empty attribute name');
  }
  // An attribute of this name would be lost while the request is taken apart.
  if (body.includes('"__proto__"') && hasMember(data, '__proto__')) {
    throw validationError('The attribute name __proto__ is not supported by the embedded DynamoDB');
  }
  return data;
}

/** Creates an embedded DynamoDB; with `dataDir`, with the tables and items it held before. */
export function createDynamoDb(options: DynamoDbOptions): DynamoDb {
  const { clock, newId } = options;
  const journal = options.dataDir === undefined ? undefined : new Journal(options.dataDir);
  const store = new Store({
    clock,
    newId,
    region: options.region ?? 'us-east-1',
    accountId: options.accountId ?? '000000000000',
    maxStreamRecords: options.maxStreamRecords ?? DEFAULT_STREAM_RECORDS,
    journal,
    latency: options.latency ?? {},
  });
  const servers = new Set<EdgeServer>();

  function respond(status: number, body: object): EdgeResponse {
    return jsonResponse(status, body, { 'x-amzn-requestid': newId() });
  }

  const dynamoDb: DynamoDb = {
    async handle({ target, body }) {
      try {
        return respond(200, await operationOf(target)(store, parseBody(body)));
      } catch (error) {
        if (error instanceof DynamoDbError) {
          return respond(400, error.body());
        }
        throw error;
      }
    },
    dispatch: (request) =>
      dynamoDb.handle({ target: request.headers['x-amz-target'] ?? '', body: bodyText(request) }),
    async listen(listenOptions = {}) {
      const server = await listenOnLoopback(dynamoDb.dispatch, listenOptions);
      servers.add(server);
      return server;
    },
    readStream({ tableName, afterSequenceNumber, limit = DEFAULT_READ_LIMIT }) {
      const { stream } = store.table(tableName, true);
      if (stream === undefined) {
        throw new Error(`Table ${tableName} has no stream: create it with a StreamSpecification`);
      }
      return stream.read(afterSequenceNumber, limit, clock.now());
    },
    onChange: (listener) => store.onChange(listener),
    expire: (now) => store.expire(now),
    async close() {
      await Promise.all([...servers].map((server) => server.close()));
      journal?.close();
    },
  };
  return dynamoDb;
}
