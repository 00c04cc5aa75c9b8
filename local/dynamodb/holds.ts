import type { Clock } from '../../lambdas/core/clock.ts';

/**
 * How long writes are in progress, in milliseconds, asked once for each. By default everything happens at once
 * and nothing ever conflicts; with latencies, writes overlap and conflict as they do at the service.
 */
export interface Latency {
  /** A transaction holds its items for so long. @default 0 */
  readonly transaction?: () => number;
  /** A lone put, update or delete is under way for so long before it takes effect. @default 0 */
  readonly write?: () => number;
}

/** The items with a write in progress. */
export class Holds {
  readonly #clock: Clock;
  readonly #transactions = new Set<string>();
  readonly #writes = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a transaction holds the item: every other write to it is refused. */
  inTransaction(id: string): boolean {
    return this.#transactions.has(id);
  }

  /** Whether anything writes the item: a transaction on it is cancelled. */
  inProgress(id: string): boolean {
    return this.#transactions.has(id) || this.#writes.has(id);
  }

  /** Holds the items, which are free, for a transaction of that length. */
  async transaction(ids: readonly string[], milliseconds: number): Promise<void> {
    for (const id of ids) {
      this.#transactions.add(id);
    }
    try {
      await this.#clock.sleep(milliseconds);
    } finally {
      for (const id of ids) {
        this.#transactions.delete(id);
      }
    }
  }

  /** Marks the item for a lone write of that length; several may be under way and take effect in turn. */
  async write(id: string, milliseconds: number): Promise<void> {
    this.#writes.set(id, (this.#writes.get(id) ?? 0) + 1);
    try {
      await this.#clock.sleep(milliseconds);
    } finally {
      const left = (this.#writes.get(id) ?? 1) - 1;
      if (left === 0) {
        this.#writes.delete(id);
      } else {
        this.#writes.set(id, left);
      }
    }
  }
}
