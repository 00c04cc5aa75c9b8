import type { Clock, NewId } from '../../lambdas/core/clock.ts';
import { attributeOf } from './attribute-values.ts';
import { ChangeStream, isChange } from './change-stream.ts';
import { tableNotFound } from './errors.ts';
import type { Latency } from './holds.ts';
import { Holds } from './holds.ts';
import type { Journal, JournalChange, JournalLine, TokenRecord } from './journal.ts';
import type { TableDefinition } from './table.ts';
import { Table } from './table.ts';
import type { Item } from './types.ts';

/** How long a finished transaction's client token is remembered. */
const TOKEN_MS = 10 * 60 * 1000;
/** The service leaves alone what expired longer ago than this. */
const TTL_HORIZON_SECONDS = 5 * 365 * 24 * 60 * 60;

export interface StoreOptions {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly region: string;
  readonly accountId: string;
  readonly maxStreamRecords: number;
  readonly journal: Journal | undefined;
  readonly latency: Latency;
}

/** A change that has passed every check: from `old` to `next`, undefined meaning no item. */
export interface Change {
  readonly table: Table;
  readonly old: Item | undefined;
  readonly next: Item | undefined;
}

/** The tables, and the one place where they change. Everything here is synchronous, hence atomic. */
export class Store {
  readonly options: StoreOptions;
  readonly tables = new Map<string, Table>();
  /** The items that are being written, by `holdId`. */
  readonly holds: Holds;
  /** Client tokens of transactions under way. */
  readonly pendingTokens = new Map<string, string>();
  readonly #tokens = new Map<string, TokenRecord>();
  readonly #listeners = new Set<(tableName: string) => void>();

  constructor(options: StoreOptions) {
    this.options = options;
    this.holds = new Holds(options.clock);
    const { journal } = options;
    if (journal !== undefined) {
      for (const line of journal.read()) {
        this.#replay(line);
      }
      journal.rewrite(this.#dump());
    }
  }

  /** Throws ResourceNotFoundException; `named` as the service names the table in some operations only. */
  table(name: string, named = false): Table {
    const table = this.tables.get(name);
    if (table === undefined) {
      throw tableNotFound(name, named);
    }
    return table;
  }

  arn(tableName: string): string {
    return `arn:aws:dynamodb:${this.options.region}:${this.options.accountId}:table/${tableName}`;
  }

  onChange(listener: (tableName: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Creates the table, or gives an existing one another definition (time-to-live, recovery). */
  define(definition: TableDefinition): Table {
    this.options.journal?.append({ kind: 'table', definition });
    return this.#define(definition);
  }

  drop(name: string): void {
    this.options.journal?.append({ kind: 'drop', table: name });
    this.tables.delete(name);
  }

  /** Applies all changes or, should the journal fail, none; then tells the listeners. */
  commit(changes: readonly Change[], options: { token?: TokenRecord; expired?: boolean } = {}): void {
    const { clock, newId, journal } = this.options;
    const at = clock.now();
    for (const { table } of changes) {
      // A table may be deleted while a transaction on it is under way.
      if (this.tables.get(table.name) !== table) {
        throw tableNotFound(table.name, false);
      }
    }
    const lines = changes
      .filter(({ old, next }) => isChange(old, next))
      .map(({ table, old, next }): JournalChange => {
        const key = old === undefined ? undefined : table.keyOf(old);
        return {
          table: table.name,
          ...(next === undefined ? {} : { put: next }),
          ...(next === undefined && key !== undefined ? { remove: key } : {}),
          ...(table.stream === undefined ? {} : { eventId: newId().replaceAll('-', '') }),
          ...(options.expired ? { expired: true } : {}),
        };
      });
    const { token } = options;
    if (lines.length === 0 && token === undefined) {
      return;
    }
    const line = { kind: 'commit', at, changes: lines, ...(token === undefined ? {} : { token }) } as const;
    journal?.append(line);
    this.#apply(line);
    for (const name of new Set(lines.map((change) => change.table))) {
      for (const listener of this.#listeners) {
        listener(name);
      }
    }
  }

  /** The finished transaction of this token, if it finished within the last ten minutes. */
  token(token: string): TokenRecord | undefined {
    const oldest = this.options.clock.now() - TOKEN_MS;
    for (const [key, record] of this.#tokens) {
      if (record.at > oldest) {
        break;
      }
      this.#tokens.delete(key);
    }
    return this.#tokens.get(token);
  }

  holdId(table: Table, item: Item): string {
    const { partition, sort } = table.position(item);
    return `${table.name}\0${partition}\0${sort}`;
  }

  /** Deletes what time-to-live makes due at `now` (epoch milliseconds); returns how many items. */
  expire(now: number): number {
    const seconds = now / 1000;
    const changes: Change[] = [];
    for (const table of this.tables.values()) {
      const name = table.definition.ttlAttribute;
      if (name === undefined) {
        continue;
      }
      for (const item of table.items.scan(undefined, { index: 0, total: 1 })) {
        const value = attributeOf(item, name);
        const due = value !== undefined && 'N' in value ? Number(value.N) : undefined;
        const expired = due !== undefined && due <= seconds && due > seconds - TTL_HORIZON_SECONDS;
        if (expired && !this.holds.inProgress(this.holdId(table, item))) {
          changes.push({ table, old: item, next: undefined });
        }
      }
    }
    for (const change of changes) {
      this.commit([change], { expired: true });
    }
    return changes.length;
  }

  #define(definition: TableDefinition): Table {
    const existing = this.tables.get(definition.TableName);
    if (existing !== undefined) {
      existing.definition = definition;
      return existing;
    }
    const table = new Table(definition, this.#stream(definition));
    this.tables.set(definition.TableName, table);
    return table;
  }

  #stream(definition: TableDefinition): ChangeStream | undefined {
    const specification = definition.StreamSpecification;
    if (!specification?.StreamEnabled) {
      return undefined;
    }
    const label = new Date(definition.createdAt).toISOString().replace('Z', '');
    return new ChangeStream({
      arn: `${this.arn(definition.TableName)}/stream/${label}`,
      region: this.options.region,
      viewType: specification.StreamViewType ?? 'NEW_AND_OLD_IMAGES',
      maxRecords: this.options.maxStreamRecords,
    });
  }

  #apply(line: Extract<JournalLine, { kind: 'commit' }>): void {
    for (const { table: name, put, remove, eventId, expired = false } of line.changes) {
      const table = this.table(name);
      const item = put ?? remove;
      if (item === undefined) {
        continue;
      }
      const old = table.items.get(table.position(item));
      table.replace(old, put);
      if (eventId !== undefined) {
        const keys = table.keyOf(item);
        table.stream?.append({ keys, old, next: put, at: line.at, eventId, expired });
      }
    }
    if (line.token !== undefined) {
      this.#tokens.set(line.token.token, line.token);
    }
  }

  #replay(line: JournalLine): void {
    switch (line.kind) {
      case 'table':
        this.#define(line.definition);
        return;
      case 'drop':
        this.tables.delete(line.table);
        return;
      case 'item':
        this.table(line.table).replace(undefined, line.item);
        return;
      case 'stream':
        this.table(line.table).stream?.load(line.first, line.records);
        return;
      case 'token':
        this.#tokens.set(line.token, line);
        return;
      case 'commit':
        this.#apply(line);
    }
  }

  *#dump(): Generator<JournalLine> {
    for (const table of this.tables.values()) {
      yield { kind: 'table', definition: table.definition };
      for (const item of table.items.scan(undefined, { index: 0, total: 1 })) {
        yield { kind: 'item', table: table.name, item };
      }
      if (table.stream !== undefined) {
        yield { kind: 'stream', table: table.name, ...table.stream.dump() };
      }
    }
    for (const record of this.#tokens.values()) {
      yield { kind: 'token', ...record };
    }
  }
}
