import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { Row } from '../core/ports.ts';
import type { Expression } from '../core/transaction.ts';

/** Native values to attributes: empty strings stay, undefined is left out, bigints are exact numbers. */
export const toItem = (row: Row): Record<string, AttributeValue> =>
  marshall(row, { removeUndefinedValues: true });

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
