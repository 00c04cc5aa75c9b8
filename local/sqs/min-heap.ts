/** A queue by priority: the smallest `at` first, then the one added first. */
export class MinHeap<T> {
  readonly #items: { readonly at: number; readonly order: number; readonly value: T }[] = [];
  #order = 0;

  push(at: number, value: T): void {
    const items = this.#items;
    const item = { at, order: this.#order++, value };
    let index = items.length;
    items.push(item);
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = items[parentIndex];
      if (parent === undefined || !before(item, parent)) break;
      items[index] = parent;
      index = parentIndex;
    }
    items[index] = item;
  }

  peek(): { readonly at: number; readonly value: T } | undefined {
    return this.#items[0];
  }

  pop(): { readonly at: number; readonly value: T } | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (first === undefined || last === undefined || items.length === 0) return first;
    let index = 0;
    for (;;) {
      let childIndex = 2 * index + 1;
      let child = items[childIndex];
      const right = items[childIndex + 1];
      if (right !== undefined && child !== undefined && before(right, child)) {
        child = right;
        childIndex += 1;
      }
      if (child === undefined || !before(child, last)) break;
      items[index] = child;
      index = childIndex;
    }
    items[index] = last;
    return first;
  }
}

interface Ordered {
  readonly at: number;
  readonly order: number;
}

function before(a: Ordered, b: Ordered): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
