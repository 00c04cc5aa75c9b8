import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { DamagedStateError } from '../damaged-state-error.ts';
import type { ChangeStream } from './change-stream.ts';
import type { TableDefinition } from './table.ts';
import type { Item } from './types.ts';

/** Name of the file inside the journal's folder. */
export const JOURNAL_FILE = 'dynamodb.ndjson';
const PIECE_BYTES = 1024 * 1024;

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

function parsed(text: string): JournalLine | undefined {
  try {
    const line: unknown = JSON.parse(text);
    return isLine(line) ? line : undefined;
  } catch {
    return undefined;
  }
}

/** Each line of the file that ends with a line feed, read in pieces: a journal may outgrow a string. */
function* wholeLines(path: string): Generator<string> {
  const file = openSync(path, 'r');
  try {
    const decoder = new StringDecoder('utf8');
    const piece = Buffer.alloc(PIECE_BYTES);
    let rest = '';
    for (let bytes = readSync(file, piece); bytes > 0; bytes = readSync(file, piece)) {
      const lines = (rest + decoder.write(piece.subarray(0, bytes))).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } finally {
    closeSync(file);
  }
}

/**
 * The store on disk: a file of JSON lines in `directory`. A line is written before its request is answered,
 * so a killed process loses nothing that it acknowledged (a power cut may lose what the system had not yet
 * written out). The file grows with each write and is cut down to the state it gives at each start. One
 * process at a time may use a directory.
 */
export class Journal {
  readonly #path: string;
  #file: number | undefined;
  #bytes = 0;

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true });
    this.#path = join(directory, JOURNAL_FILE);
  }

  /** Every whole line. The last one may be torn by a crash; it was not acknowledged, so it is left out. */
  *read(): Generator<JournalLine> {
    if (!existsSync(this.#path)) {
      return;
    }
    let number = 0;
    for (const text of wholeLines(this.#path)) {
      number++;
      const line = parsed(text);
      if (line === undefined) {
        throw new DamagedStateError(
          `${this.#path}: line ${number} can't be read; restore the file or remove it to start empty`,
        );
      }
      yield line;
    }
  }

  /** Replaces the file by `lines`, all or nothing, and goes on from there. */
  rewrite(lines: Iterable<JournalLine>): void {
    const fresh = `${this.#path}.new`;
    this.#file = openSync(fresh, 'w');
    this.#bytes = 0;
    for (const line of lines) {
      this.append(line);
    }
    renameSync(fresh, this.#path);
  }

  /** Writes one line, all or nothing; throws when the disk refuses it or the store is closed. */
  append(line: JournalLine): void {
    if (this.#file === undefined) {
      throw new Error('The DynamoDB store is closed');
    }
    const text = Buffer.from(`${JSON.stringify(line)}\n`);
    try {
      for (let written = 0; written < text.length; ) {
        written += writeSync(this.#file, text, written, text.length - written, this.#bytes + written);
      }
    } catch (error) {
      ftruncateSync(this.#file, this.#bytes);
      throw error;
    }
    this.#bytes += text.length;
  }

  close(): void {
    if (this.#file !== undefined) {
      closeSync(this.#file);
      this.#file = undefined;
    }
  }
}
