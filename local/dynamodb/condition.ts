import { compareValues, setElements, typeOf, valueAt, valuesEqual } from './attribute-values.ts';
import type { AttributeValue, Condition, Item, Operand } from './types.ts';

function isFunction(operand: Operand): operand is Extract<Operand, { type: 'function' }> {
  return !Array.isArray(operand) && 'type' in operand;
}

function sizeOf(value: AttributeValue): number | undefined {
  if ('S' in value) {
    return Buffer.byteLength(value.S);
  }
  if ('B' in value) {
    return Buffer.byteLength(value.B, 'base64');
  }
  if ('L' in value) {
    return value.L.length;
  }
  if ('M' in value) {
    return Object.keys(value.M).length;
  }
  return setElements(value)?.length;
}

function resolve(operand: Operand | undefined, item: Item): AttributeValue | undefined {
  if (operand === undefined) {
    return undefined;
  }
  if (Array.isArray(operand)) {
    return valueAt(item, operand);
  }
  if (!isFunction(operand)) {
    return operand;
  }
  const inner = resolve(operand.args[0], item);
  const size = inner === undefined ? undefined : sizeOf(inner);
  return size === undefined ? undefined : { N: String(size) };
}

function beginsWith(value: AttributeValue, prefix: AttributeValue): boolean {
  if ('S' in value && 'S' in prefix) {
    return value.S.startsWith(prefix.S);
  }
  if ('B' in value && 'B' in prefix) {
    const start = Buffer.from(prefix.B, 'base64');
    return Buffer.from(value.B, 'base64').subarray(0, start.length).equals(start);
  }
  return false;
}

function contains(value: AttributeValue, part: AttributeValue): boolean {
  if ('S' in value && 'S' in part) {
    return value.S.includes(part.S);
  }
  if ('B' in value && 'B' in part) {
    return Buffer.from(value.B, 'base64').includes(Buffer.from(part.B, 'base64'));
  }
  if ('L' in value) {
    return value.L.some((element) => valuesEqual(element, part));
  }
  if ('SS' in value && 'S' in part) {
    return value.SS.includes(part.S);
  }
  if ('NS' in value && 'N' in part) {
    return value.NS.includes(part.N);
  }
  return 'BS' in value && 'B' in part && value.BS.includes(part.B);
}

/** Evaluates a parsed condition. A comparison with an absent operand is false, except `<>`. */
export function holds(condition: Condition, item: Item): boolean {
  if (condition.type === 'and') {
    return condition.args.every((each) => holds(each, item));
  }
  if (condition.type === 'or') {
    return condition.args.some((each) => holds(each, item));
  }
  if (condition.type === 'not') {
    return !holds(condition.args[0], item);
  }
  const [left, ...others] = condition.args.map((operand) => resolve(operand, item));
  const right = others[0];
  if (condition.type === 'function') {
    switch (condition.name) {
      case 'attribute_exists':
        return left !== undefined;
      case 'attribute_not_exists':
        return left === undefined;
      case 'attribute_type':
        return left !== undefined && right !== undefined && 'S' in right && typeOf(left) === right.S;
      case 'begins_with':
        return left !== undefined && right !== undefined && beginsWith(left, right);
      default:
        return left !== undefined && right !== undefined && contains(left, right);
    }
  }
  if (condition.type === '<>') {
    return left === undefined || right === undefined || !valuesEqual(left, right);
  }
  if (left === undefined) {
    return false;
  }
  if (condition.type === 'in') {
    return others.some((other) => other !== undefined && valuesEqual(left, other));
  }
  if (right === undefined) {
    return false;
  }
  if (condition.type === '=') {
    return valuesEqual(left, right);
  }
  const order = compareValues(left, right);
  if (order === undefined) {
    return false;
  }
  switch (condition.type) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    case 'between': {
      const upper = others[1] === undefined ? undefined : compareValues(left, others[1]);
      return order >= 0 && upper !== undefined && upper <= 0;
    }
  }
}
