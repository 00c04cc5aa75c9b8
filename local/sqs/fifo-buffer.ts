import type { StoredMessage } from './message.ts';
import type { MessageBuffer } from './message-buffer.ts';

interface Group {
  /** In the order sent. */
  readonly messages: StoredMessage[];
  /** Those that a receive took and that may still be in flight. */
  readonly received: Set<StoredMessage>;
}

/** Messages of a FIFO queue: in order within a group, and none of a group that has one in flight. */
export class FifoBuffer implements MessageBuffer {
  readonly #groups = new Map<string, Group>();

  add(message: StoredMessage): void {
    const group = this.#group(message);
    group.messages.push(message);
    // A restored message may be in flight already.
    if (message.receipt !== undefined) group.received.add(message);
  }

  next(now: number, taken: readonly StoredMessage[]): StoredMessage | undefined {
    for (const group of this.#groups.values()) {
      if (this.#inFlightUntil(group, now, taken) !== undefined) continue;
      const message = group.messages.find((candidate) => !taken.includes(candidate));
      if (message !== undefined && message.visibleAt <= now) {
        group.received.add(message);
        return message;
      }
    }
    return undefined;
  }

  rescheduled(): void {
    // Visibility is read from the messages themselves.
  }

  remove(message: StoredMessage): void {
    const group = this.#group(message);
    const index = group.messages.indexOf(message);
    if (index >= 0) group.messages.splice(index, 1);
    group.received.delete(message);
    if (group.messages.length === 0) this.#groups.delete(message.groupId ?? '');
  }

  nextVisibleAt(now: number): number | undefined {
    let next: number | undefined;
    for (const group of this.#groups.values()) {
      const head = group.messages[0];
      if (head === undefined) continue;
      const at = Math.max(now, head.visibleAt, this.#inFlightUntil(group, now, []) ?? now);
      if (next === undefined || at < next) next = at;
    }
    return next;
  }

  #group(message: StoredMessage): Group {
    const id = message.groupId ?? '';
    const known = this.#groups.get(id);
    if (known !== undefined) return known;
    const group: Group = { messages: [], received: new Set() };
    this.#groups.set(id, group);
    return group;
  }

  /** The end of the longest receive that blocks the group, those `taken` just now apart. */
  #inFlightUntil(group: Group, now: number, taken: readonly StoredMessage[]): number | undefined {
    let until: number | undefined;
    for (const message of group.received) {
      if (taken.includes(message)) continue;
      if (message.visibleAt <= now) group.received.delete(message);
      else until = Math.max(until ?? 0, message.visibleAt);
    }
    return until;
  }
}
