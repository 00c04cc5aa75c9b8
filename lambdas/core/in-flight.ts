import { sha256 } from './identity.ts';
import { textOf } from './ports.ts';
import type { TableChange } from './stream.ts';
import type { ItemKey } from './table.ts';

/**
 * The in-flight limit is a register of the keys at work, not a number: taking a key that is in it, and releasing one
 * that is not, change nothing. So a delivery that comes twice counts once, whatever its shard, and nothing has to be
 * remembered of what was counted.
 *
 * Who writes it:
 * - the starter takes a key before it starts the execution, on condition that there is room. So the limit holds
 *   however late the table's change stream is: what has not been told yet still occupies its place.
 * - the waker releases a key when its row becomes final or its execution parks or waits for a person, and
 *   takes it again, without asking for room, when such a wait ends or a failed message is at work again.
 * - the reconciler releases what was left over by a change that the consumer never saw.
 *
 * Changes of one item come in order, those of two do not. Only the end of a wait can overtake the end of the work,
 * which is why it is followed by a look at the inbox row: a key that is final by then is released again.
 *
 * Deferred messages take no place while they wait: the starter does not ask for one until they are due.
 *
 * Cost of a message under a limit: one conditional write of the starter and a share of one write for each batch of
 * the stream, each at the size of a part of the register (at most 50 keys, about 3 KB: 3 write units), and one read
 * of the register a batch. Without a limit there is none of this.
 */
export interface InFlightChange {
  readonly key: string;
  readonly change: 'take' | 'release';
  /** Whether the inbox row has to be looked at after a take. */
  readonly look: boolean;
}

/** Keys in one part of the register, so that a write of it stays small. */
const KEYS_IN_A_PART = 50;
/** BatchGetItem reads the whole register at once. */
const MAX_PARTS = 100;

/** What a change of the table means for the register; undefined when nothing. */
export function inFlightChange({ PK, SK, newImage, oldImage }: TableChange): InFlightChange | undefined {
  if (PK.startsWith('IDEMP#') && SK.startsWith('WORKER#')) {
    const key = PK.slice('IDEMP#'.length);
    switch (textOf(newImage, 'status')) {
      case 'COMPLETED':
      case 'FAILED_TERMINAL':
        return { key, change: 'release', look: false };
      case 'PROCESSING':
      case 'FAILED_RETRYABLE':
        return { key, change: 'take', look: false };
      default:
        return undefined;
    }
  }
  if (!SK.startsWith('WAITER#')) return undefined;
  const key = textOf(newImage ?? oldImage, 'idempotencyKey');
  if (key === undefined) return undefined;
  return newImage === undefined
    ? { key, change: 'take', look: true }
    : { key, change: 'release', look: false };
}

/** The last change of each key: earlier ones of the same batch are overtaken by it. */
export function lastChanges(changes: readonly TableChange[]): readonly InFlightChange[] {
  const last = new Map<string, InFlightChange>();
  for (const change of changes) {
    const meaning = inFlightChange(change);
    if (meaning !== undefined) last.set(meaning.key, meaning);
  }
  return [...last.values()];
}

/** How many parts the register of a limit has. */
export const partsOf = (limit: number): number => Math.min(MAX_PARTS, Math.ceil(limit / KEYS_IN_A_PART));

/** The part that a key belongs to. */
export const partOf = (key: string, parts: number): number =>
  Number.parseInt(sha256(key).slice(0, 8), 16) % parts;

/** How many keys a part takes, so that all together take exactly the limit. */
export const roomOfPart = (part: number, limit: number): number => {
  const parts = partsOf(limit);
  return Math.floor(limit / parts) + (part < limit % parts ? 1 : 0);
};

/** Parts lie in partitions of their own: one partition takes only 1,000 write units a second. */
export const registerKey = (part: number): ItemKey => ({ PK: `COUNTER#INFLIGHT#${part}`, SK: 'REGISTER' });
