import type { StoredMessage } from './message.ts';

/** Keeps a queue's messages in the order in which they may be received. */
export interface MessageBuffer {
  add(message: StoredMessage): void;
  /** The next message that may be received at `now`, besides those already `taken` by this receive. */
  next(now: number, taken: readonly StoredMessage[]): StoredMessage | undefined;
  /** To be called after a message's `visibleAt` changed, and after a receive for all that it took. */
  rescheduled(message: StoredMessage): void;
  remove(message: StoredMessage): void;
  /** When the next message can be received, at the earliest `now`; undefined when nothing is stored. */
  nextVisibleAt(now: number): number | undefined;
}
