/** A map from strings that can also be read in the order of its keys (by UTF-16 code units). */
export class OrderedMap<Value> {
  readonly #values = new Map<string, Value>();
  readonly #keys: string[] = [];

  get size(): number {
    return this.#values.size;
  }

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: Value): void {
    if (!this.#values.has(key)) {
      const last = this.#keys.at(-1);
      if (last === undefined || last < key) {
        this.#keys.push(key);
      } else {
        this.#keys.splice(this.#firstAtOrAfter(key), 0, key);
      }
    }
    this.#values.set(key, value);
  }

  delete(key: string): void {
    if (this.#values.delete(key)) {
      this.#keys.splice(this.#firstAtOrAfter(key), 1);
    }
  }

  /** The values with `from <= key < to`, descending when `reverse` is set. */
  *range(from: string, to: string | undefined, reverse: boolean): Generator<[string, Value]> {
    const start = this.#firstAtOrAfter(from);
    const end = to === undefined ? this.#keys.length : this.#firstAtOrAfter(to);
    for (let step = 0; step < end - start; step++) {
      const key = this.#keys[reverse ? end - 1 - step : start + step];
      const value = key === undefined ? undefined : this.#values.get(key);
      if (key !== undefined && value !== undefined) {
        yield [key, value];
      }
    }
  }

  #firstAtOrAfter(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const candidate = this.#keys[middle];
      if (candidate !== undefined && candidate < key) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
