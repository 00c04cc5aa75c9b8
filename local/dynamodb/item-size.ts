import { significantDigits } from './decimal.ts';
import type { AttributeValue, Item } from './types.ts';

export const MAX_ITEM_BYTES = 400 * 1024;

const COLLECTION_BYTES = 3;
const ELEMENT_BYTES = 1;

function binaryBytes(base64: string): number {
  return Buffer.byteLength(base64, 'base64');
}

function numberBytes(text: string): number {
  const digits = significantDigits(text).length;
  return digits === 0 ? 1 : 1 + Math.ceil(digits / 2) + (text.startsWith('-') ? 1 : 0);
}

function sum(values: readonly string[], bytes: (value: string) => number): number {
  return values.reduce((total, value) => total + bytes(value), 0);
}

function valueBytes(value: AttributeValue): number {
  if ('S' in value) {
    return Buffer.byteLength(value.S);
  }
  if ('N' in value) {
    return numberBytes(value.N);
  }
  if ('B' in value) {
    return binaryBytes(value.B);
  }
  if ('SS' in value) {
    return sum(value.SS, (text) => Buffer.byteLength(text));
  }
  if ('NS' in value) {
    return sum(value.NS, numberBytes);
  }
  if ('BS' in value) {
    return sum(value.BS, binaryBytes);
  }
  if ('L' in value) {
    return value.L.reduce((total, child) => total + ELEMENT_BYTES + valueBytes(child), COLLECTION_BYTES);
  }
  if ('M' in value) {
    return COLLECTION_BYTES + ELEMENT_BYTES * Object.keys(value.M).length + itemBytes(value.M);
  }
  return 1;
}

/** An item's size by the service's rules: UTF-8 names and values; two digits of a number a byte. */
export function itemBytes(item: Item): number {
  let total = 0;
  for (const name of Object.keys(item)) {
    const value = item[name];
    if (value !== undefined) {
      total += Buffer.byteLength(name) + valueBytes(value);
    }
  }
  return total;
}
