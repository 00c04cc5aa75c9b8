import { itemsEqual } from './attribute-values.ts';
import { itemBytes } from './item-size.ts';
import type { Item, StreamViewType } from './types.ts';

const RETENTION_MS = 24 * 60 * 60 * 1000;
const FIRST_DIGIT = '1';
const COUNTER_DIGITS = 20;

/** One record, shaped as in the event that Lambda's stream event source hands to a function. */
export interface StreamRecord {
  readonly eventID: string;
  readonly eventName: 'INSERT' | 'MODIFY' | 'REMOVE';
  readonly eventVersion: '1.1';
  readonly eventSource: 'aws:dynamodb';
  readonly awsRegion: string;
  readonly dynamodb: {
    /** Whole seconds since the epoch. */
    readonly ApproximateCreationDateTime: number;
    readonly Keys: Item;
    readonly NewImage?: Item;
    readonly OldImage?: Item;
    readonly SequenceNumber: string;
    readonly SizeBytes: number;
    readonly StreamViewType: StreamViewType;
  };
  /** Only on what time-to-live removed. */
  readonly userIdentity?: { readonly type: 'Service'; readonly principalId: 'dynamodb.amazonaws.com' };
  readonly eventSourceARN: string;
}

export interface StreamRead {
  /** In order of sequence number, oldest first. */
  readonly records: readonly StreamRecord[];
  /** Where the next read goes on; undefined while nothing has been read. */
  readonly lastSequenceNumber: string | undefined;
  /** True when records after the number asked for are gone already (24 hours, or the cap). */
  readonly trimmed: boolean;
}

/** What a record is made from. */
export interface ItemChange {
  readonly keys: Item;
  readonly old: Item | undefined;
  readonly next: Item | undefined;
  readonly at: number;
  readonly eventId: string;
  readonly expired: boolean;
}

export interface ChangeStreamOptions {
  readonly arn: string;
  readonly region: string;
  readonly viewType: StreamViewType;
  /** Most records kept; the oldest go first. */
  readonly maxRecords: number;
}

function sequenceNumber(count: number): string {
  return `${FIRST_DIGIT}${String(count).padStart(COUNTER_DIGITS, '0')}`;
}

function countOf(text: string): number {
  const count = Number(text.slice(FIRST_DIGIT.length));
  if (text.length !== FIRST_DIGIT.length + COUNTER_DIGITS || !Number.isSafeInteger(count)) {
    throw new RangeError(`"${text}" is not a sequence number of this stream`);
  }
  return count;
}

/** Whether the change is one that a stream records: a write that leaves the item as it was is none. */
export function isChange(old: Item | undefined, next: Item | undefined): boolean {
  return old === undefined || next === undefined ? old !== next : !itemsEqual(old, next);
}

/** The changes of one table, in one shard. */
export class ChangeStream {
  readonly #options: ChangeStreamOptions;
  #records: { readonly at: number; readonly record: StreamRecord }[] = [];
  /** The number of the first record kept; numbers go up by one. */
  #first = 1;

  constructor(options: ChangeStreamOptions) {
    this.#options = options;
  }

  get arn(): string {
    return this.#options.arn;
  }

  /** The number that the next record gets. */
  get nextNumber(): number {
    return this.#first + this.#records.length;
  }

  append(change: ItemChange): void {
    const { viewType, region, arn } = this.#options;
    const images = {
      ...(change.next !== undefined && viewType.startsWith('NEW') ? { NewImage: change.next } : {}),
      ...(change.old !== undefined && viewType.endsWith('OLD_IMAGES') ? { OldImage: change.old } : {}),
      ...(change.old !== undefined && viewType === 'OLD_IMAGE' ? { OldImage: change.old } : {}),
    };
    const record: StreamRecord = {
      eventID: change.eventId,
      eventName: change.old === undefined ? 'INSERT' : change.next === undefined ? 'REMOVE' : 'MODIFY',
      eventVersion: '1.1',
      eventSource: 'aws:dynamodb',
      awsRegion: region,
      dynamodb: {
        ApproximateCreationDateTime: Math.floor(change.at / 1000),
        Keys: change.keys,
        ...images,
        SequenceNumber: sequenceNumber(this.nextNumber),
        SizeBytes: [change.keys, ...Object.values(images)].reduce((sum, item) => sum + itemBytes(item), 0),
        StreamViewType: viewType,
      },
      ...(change.expired
        ? { userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' } as const }
        : {}),
      eventSourceARN: arn,
    };
    this.#records.push({ at: change.at, record });
    this.#trim(change.at);
  }

  read(after: string | undefined, limit: number, now: number): StreamRead {
    this.#trim(now);
    const next = after === undefined ? 1 : countOf(after) + 1;
    const start = Math.max(0, next - this.#first);
    // Copies: what a reader does with an image must not reach the table.
    const records = this.#records.slice(start, start + limit).map(({ record }) => structuredClone(record));
    return {
      records,
      lastSequenceNumber: records.at(-1)?.dynamodb.SequenceNumber ?? after,
      trimmed: next < this.#first,
    };
  }

  /** Everything kept, for the journal. */
  dump(): { first: number; records: readonly { at: number; record: StreamRecord }[] } {
    return { first: this.#first, records: this.#records };
  }

  load(first: number, records: readonly { at: number; record: StreamRecord }[]): void {
    this.#first = first;
    this.#records = [...records];
  }

  #trim(now: number): void {
    const { maxRecords } = this.#options;
    let gone = Math.max(0, this.#records.length - maxRecords);
    // Cutting from the front moves everything else: let a tenth of the cap gather first.
    if (gone < maxRecords / 10) {
      gone = 0;
    }
    while (gone < this.#records.length && (this.#records[gone]?.at ?? now) <= now - RETENTION_MS) {
      gone++;
    }
    if (gone > 0) {
      this.#records.splice(0, gone);
      this.#first += gone;
    }
  }
}
