/**
 * Stands in, in the bundles, for the cache of a collection library. The SDK keeps discovered endpoints in it, which
 * DynamoDB has none of unless it is asked for them.
 */
// biome-ignore lint/style/noDefaultExport: as the library does
export default class LruCache<V> {
  readonly #capacity: number;
  /** The longest unused first. */
  readonly #entries = new Map<string, V>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  peek(key: string): V | undefined {
    return this.#entries.get(key);
  }

  get(key: string): V | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) this.#touch(key, value);
    return value;
  }

  set(key: string, value: V): void {
    this.#touch(key, value);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#capacity && oldest !== undefined) this.#entries.delete(oldest);
  }

  clear(): void {
    this.#entries.clear();
  }

  #touch(key: string, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
  }
}
