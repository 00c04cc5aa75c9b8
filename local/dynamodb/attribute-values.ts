import { compareNumbers } from './decimal.ts';
import type { AttributeValue, Item, Path } from './types.ts';

export type AttributeType = 'S' | 'N' | 'B' | 'BOOL' | 'NULL' | 'SS' | 'NS' | 'BS' | 'L' | 'M';

const TYPES: readonly AttributeType[] = ['S', 'N', 'B', 'BOOL', 'NULL', 'SS', 'NS', 'BS', 'L', 'M'];

export function typeOf(value: AttributeValue): AttributeType {
  for (const type of TYPES) {
    if (type in value) {
      return type;
    }
  }
  throw new TypeError('An attribute value without a type passed the validation');
}

/** The item's own attribute; names such as `constructor` are ordinary attributes. */
export function attributeOf(item: Item, name: string): AttributeValue | undefined {
  return Object.hasOwn(item, name) ? item[name] : undefined;
}

/** What stands at the path, or undefined where any step is missing or of another type. */
export function valueAt(item: Item, path: Path): AttributeValue | undefined {
  let current: AttributeValue = { M: item };
  for (const step of path) {
    const next = childOf(current, step);
    if (next === undefined) {
      return undefined;
    }
    current = next;
  }
  return current;
}

function childOf(value: AttributeValue, step: string | number): AttributeValue | undefined {
  if (typeof step === 'number') {
    return 'L' in value ? value.L[step] : undefined;
  }
  return 'M' in value ? attributeOf(value.M, step) : undefined;
}

/** The elements of a set, or undefined for every other type. */
export function setElements(value: AttributeValue): string[] | undefined {
  return 'SS' in value ? value.SS : 'NS' in value ? value.NS : 'BS' in value ? value.BS : undefined;
}

/** A set of the same type as `like` with other elements. */
export function setOf(like: AttributeValue, elements: string[]): AttributeValue {
  return 'SS' in like ? { SS: elements } : 'NS' in like ? { NS: elements } : { BS: elements };
}

/** Equality as DynamoDB means it: by type and value, sets without order. */
export function valuesEqual(left: AttributeValue, right: AttributeValue): boolean {
  if (left === right) {
    return true;
  }
  if (typeOf(left) !== typeOf(right)) {
    return false;
  }
  const leftSet = setElements(left);
  const rightSet = setElements(right);
  if (leftSet !== undefined && rightSet !== undefined) {
    const elements = new Set(leftSet);
    return leftSet.length === rightSet.length && rightSet.every((element) => elements.has(element));
  }
  if ('L' in left && 'L' in right) {
    const other = right.L;
    return (
      left.L.length === other.length &&
      left.L.every((value, index) => {
        const counterpart = other[index];
        return counterpart !== undefined && valuesEqual(value, counterpart);
      })
    );
  }
  if ('M' in left && 'M' in right) {
    return itemsEqual(left.M, right.M);
  }
  return scalarOf(left) === scalarOf(right);
}

export function itemsEqual(left: Item, right: Item): boolean {
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => {
      const one = attributeOf(left, name);
      const other = attributeOf(right, name);
      return one !== undefined && other !== undefined && valuesEqual(one, other);
    })
  );
}

function scalarOf(value: AttributeValue): string | boolean | undefined {
  if ('S' in value) {
    return value.S;
  }
  if ('N' in value) {
    return value.N;
  }
  if ('B' in value) {
    return value.B;
  }
  return 'BOOL' in value ? value.BOOL : undefined;
}

/** Order of two strings, numbers or binaries of one type; undefined where there is none. */
export function compareValues(left: AttributeValue, right: AttributeValue): number | undefined {
  if ('N' in left && 'N' in right) {
    return compareNumbers(left.N, right.N);
  }
  if ('S' in left && 'S' in right) {
    return Buffer.compare(Buffer.from(left.S), Buffer.from(right.S));
  }
  if ('B' in left && 'B' in right) {
    return Buffer.compare(Buffer.from(left.B, 'base64'), Buffer.from(right.B, 'base64'));
  }
  return undefined;
}

export function cloneValue(value: AttributeValue): AttributeValue {
  if ('L' in value) {
    return { L: value.L.map(cloneValue) };
  }
  if ('M' in value) {
    return { M: cloneItem(value.M) };
  }
  const elements = setElements(value);
  return elements === undefined ? { ...value } : setOf(value, [...elements]);
}

export function cloneItem(item: Item): Item {
  const copy: Item = {};
  for (const name of Object.keys(item)) {
    const value = item[name];
    if (value !== undefined) {
      copy[name] = cloneValue(value);
    }
  }
  return copy;
}
