import type { StoredMessage } from './message.ts';
import type { MessageBuffer } from './message-buffer.ts';
import { MinHeap } from './min-heap.ts';

/** Messages of a standard queue: by the time they become visible, whatever their group. */
export class StandardBuffer implements MessageBuffer {
  readonly #stored = new Set<StoredMessage>();
  /** Visible messages. An entry counts only while its message is in `#isReady`. */
  #ready: StoredMessage[] = [];
  #head = 0;
  readonly #isReady = new Set<StoredMessage>();
  /** Hidden messages. An entry counts only while its time is the message's own. */
  readonly #hidden = new MinHeap<StoredMessage>();

  add(message: StoredMessage): void {
    this.#stored.add(message);
    this.#hidden.push(message.visibleAt, message);
  }

  next(now: number): StoredMessage | undefined {
    this.#promote(now);
    while (this.#head < this.#ready.length) {
      const message = this.#ready[this.#head];
      this.#head += 1;
      if (this.#head > 1_000 && this.#head * 2 > this.#ready.length) {
        this.#ready = this.#ready.slice(this.#head);
        this.#head = 0;
      }
      if (message !== undefined && this.#isReady.delete(message)) return message;
    }
    return undefined;
  }

  rescheduled(message: StoredMessage): void {
    this.#isReady.delete(message);
    this.#hidden.push(message.visibleAt, message);
  }

  remove(message: StoredMessage): void {
    this.#stored.delete(message);
    this.#isReady.delete(message);
  }

  nextVisibleAt(now: number): number | undefined {
    if (this.#isReady.size > 0) return now;
    for (let first = this.#hidden.peek(); first !== undefined; first = this.#hidden.peek()) {
      if (this.#isCurrent(first.value, first.at)) return Math.max(now, first.at);
      this.#hidden.pop();
    }
    return undefined;
  }

  #promote(now: number): void {
    for (
      let first = this.#hidden.peek();
      first !== undefined && first.at <= now;
      first = this.#hidden.peek()
    ) {
      this.#hidden.pop();
      if (!this.#isCurrent(first.value, first.at) || this.#isReady.has(first.value)) continue;
      this.#isReady.add(first.value);
      this.#ready.push(first.value);
    }
  }

  #isCurrent(message: StoredMessage, at: number): boolean {
    return message.visibleAt === at && this.#stored.has(message);
  }
}
