import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ChangeStream } from './change-stream.ts';
import type { TableDefinition } from './table.ts';
import type { Item } from './types.ts';

const FILE = 'dynamodb.ndjson';

/** A finished transaction's client token, so that the same request is not applied again. */
export interface TokenRecord {
  readonly token: string;
  readonly requestHash: string;
  /** Epoch milliseconds at which the transaction was committed. */
  readonly at: number;
}

/** One item's change inside a commit. Exactly one of `put` and `remove` is set. */
export interface JournalChange {
  readonly table: string;
  /** The item as it is afterwards. */
  readonly put?: Item;
  /** The key of the item that is gone. */
  readonly remove?: Item;
  /** The stream record's id; absent where the table has no stream or nothing changed. */
  readonly eventId?: string;
  readonly expired?: boolean;
}

/** What the journal holds, one line each; replayed from the first line they give the store's state. */
export type JournalLine =
  | { readonly kind: 'table'; readonly definition: TableDefinition }
  | { readonly kind: 'drop'; readonly table: string }
  | { readonly kind: 'item'; readonly table: string; readonly item: Item }
  | ({ readonly kind: 'stream'; readonly table: string } & ReturnType<ChangeStream['dump']>)
  | ({ readonly kind: 'token' } & TokenRecord)
  | {
      readonly kind: 'commit';
      readonly at: number;
      readonly changes: readonly JournalChange[];
      readonly token?: TokenRecord;
    };

function isLine(value: unknown): value is JournalLine {
  return typeof value === 'object' && value !== null && 'kind' in value;
}

/**
 * The store on disk: a file of JSON lines in `directory`. A line is written before its request is answered,
 * so a killed process loses nothing that it acknowledged (a power cut may lose what the system had not yet
 * written out).
 */
export class Journal {
  readonly #path: string;
  #file: number | undefined;

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true });
    this.#path = join(directory, FILE);
  }

  /** Every whole line. The last one may be torn by a crash; it was not acknowledged, so it is left out. */
  read(): JournalLine[] {
    if (!existsSync(this.#path)) {
      return [];
    }
    const lines = readFileSync(this.#path, 'utf8').split('\n');
    lines.pop();
    return lines.map((text, index) => {
      const line: unknown = JSON.parse(text);
      if (!isLine(line)) {
        throw new Error(`${this.#path}: line ${index + 1} is no journal line; remove the data directory`);
      }
      return line;
    });
  }

  /** Replaces the file by `lines`, all or nothing, and goes on from there. */
  rewrite(lines: Iterable<JournalLine>): void {
    const fresh = `${this.#path}.new`;
    const file = openSync(fresh, 'w');
    for (const line of lines) {
      writeSync(file, `${JSON.stringify(line)}\n`);
    }
    renameSync(fresh, this.#path);
    if (this.#file !== undefined) {
      closeSync(this.#file);
    }
    this.#file = file;
  }

  append(line: JournalLine): void {
    if (this.#file === undefined) {
      throw new Error('The DynamoDB store is closed');
    }
    writeSync(this.#file, `${JSON.stringify(line)}\n`);
  }

  close(): void {
    if (this.#file !== undefined) {
      closeSync(this.#file);
      this.#file = undefined;
    }
  }
}
