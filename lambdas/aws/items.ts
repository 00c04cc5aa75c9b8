import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Row } from '../core/ports.ts';
import type { Expression } from '../core/transaction.ts';

/**
 * Native values to attributes: empty strings stay, undefined is left out, bigints are exact numbers. Not the SDK's
 * `marshall`, which asks an object for its `constructor` and so fails on a map that has such a key.
 * @throws TypeError for a number that DynamoDB would not keep, or a value that is no data
 */
export const toItem = (row: Row): Record<string, AttributeValue> =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) => (value === undefined ? [] : [[name, toAttribute(value)]])),
  );

function toAttribute(value: unknown): AttributeValue {
  switch (typeof value) {
    case 'string':
      return { S: value };
    case 'boolean':
      return { BOOL: value };
    case 'bigint':
      return { N: String(value) };
    case 'number':
      if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) {
        throw new TypeError('A number that is not exact cannot be stored: use a bigint');
      }
      return { N: String(value) };
    case 'object':
      if (value === null) return { NULL: true };
      if (Array.isArray(value)) {
        return { L: value.filter((entry) => entry !== undefined).map(toAttribute) };
      }
      if (value instanceof Uint8Array) return { B: value };
      if (isPlain(value)) return { M: toItem({ ...value }) };
  }
  throw new TypeError('Only data can be stored: no function, symbol, set or class instance');
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Attributes to native values: whole numbers beyond 2^53 become bigints, other numbers that a float would change text. */
export const fromItem = (item: Record<string, AttributeValue>): Row =>
  unmarshall(item, { wrapNumbers: toNumber });

function toNumber(text: string): number | bigint | string {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  if (/^-?\d+$/.test(text)) return BigInt(text);
  return Number.isFinite(value) ? value : text;
}

/** An expression as the SDK's commands take it, under the name of its kind. */
export function expressionInput(parts: {
  readonly update?: Expression;
  readonly condition?: Expression | undefined;
}) {
  const names = { ...parts.update?.names, ...parts.condition?.names };
  const values = { ...parts.update?.values, ...parts.condition?.values };
  return {
    ...(parts.update === undefined ? {} : { UpdateExpression: parts.update.text }),
    ...(parts.condition === undefined ? {} : { ConditionExpression: parts.condition.text }),
    ...(Object.keys(names).length === 0 ? {} : { ExpressionAttributeNames: names }),
    ...(Object.keys(values).length === 0 ? {} : { ExpressionAttributeValues: toItem(values) }),
  };
}
