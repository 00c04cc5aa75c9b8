import { cloneItem, cloneValue, setElements, setOf, typeOf, valueAt } from './attribute-values.ts';
import { calculate } from './decimal.ts';
import { validationError } from './errors.ts';
import type { AttributeValue, Item, Path, UpdateOperand, UpdateSection } from './types.ts';

const WRONG_TYPE = 'An operand in the update expression has an incorrect data type';
const WRONG_PATH = 'The document path provided in the update expression is invalid for update';

/** Values are read from the item as it was, so they are copied: two attributes must not share one. */
function resolve(operand: UpdateOperand, item: Item): AttributeValue {
  if (Array.isArray(operand)) {
    const value = valueAt(item, operand);
    if (value === undefined) {
      throw validationError('The provided expression refers to an attribute that does not exist in the item');
    }
    return cloneValue(value);
  }
  if (!('type' in operand)) {
    return cloneValue(operand);
  }
  if (operand.type === 'function') {
    if (operand.name === 'if_not_exists') {
      const existing = valueAt(item, operand.args[0]);
      return existing === undefined ? resolve(operand.args[1], item) : cloneValue(existing);
    }
    const first = resolve(operand.args[0], item);
    const second = resolve(operand.args[1], item);
    if (!('L' in first && 'L' in second)) {
      throw validationError(WRONG_TYPE);
    }
    return { L: [...first.L, ...second.L] };
  }
  const left = resolve(operand.args[0], item);
  const right = resolve(operand.args[1], item);
  if (!('N' in left && 'N' in right)) {
    throw validationError(WRONG_TYPE);
  }
  return { N: calculate(left.N, right.N, operand.type) };
}

function parentOf(
  item: Item,
  path: Path,
): { map: Item; name: string } | { list: AttributeValue[]; index: number } {
  const parent = valueAt(item, path.slice(0, -1));
  const last = path.at(-1);
  if (parent !== undefined && typeof last === 'number' && 'L' in parent) {
    return { list: parent.L, index: last };
  }
  if (parent !== undefined && typeof last === 'string' && 'M' in parent) {
    return { map: parent.M, name: last };
  }
  throw validationError(WRONG_PATH);
}

function write(item: Item, path: Path, value: AttributeValue): void {
  const place = parentOf(item, path);
  if ('map' in place) {
    place.map[place.name] = value;
  } else {
    // Beyond the end means "append", whatever the index.
    place.list[Math.min(place.index, place.list.length)] = value;
  }
}

function remove(item: Item, path: Path): void {
  const place = parentOf(item, path);
  if ('map' in place) {
    delete place.map[place.name];
  } else if (place.index < place.list.length) {
    place.list.splice(place.index, 1);
  }
}

function add(item: Item, path: Path, value: AttributeValue): void {
  parentOf(item, path);
  const existing = valueAt(item, path);
  if (existing === undefined) {
    write(item, path, cloneValue(value));
    return;
  }
  if (typeOf(existing) !== typeOf(value)) {
    throw validationError(WRONG_TYPE);
  }
  if ('N' in existing && 'N' in value) {
    write(item, path, { N: calculate(existing.N, value.N, 'add') });
    return;
  }
  const elements = new Set([...(setElements(existing) ?? []), ...(setElements(value) ?? [])]);
  write(item, path, setOf(existing, [...elements]));
}

function removeElements(item: Item, path: Path, value: AttributeValue): void {
  parentOf(item, path);
  const existing = valueAt(item, path);
  if (existing === undefined) {
    return;
  }
  if (typeOf(existing) !== typeOf(value)) {
    throw validationError(WRONG_TYPE);
  }
  const gone = new Set(setElements(value));
  const left = (setElements(existing) ?? []).filter((element) => !gone.has(element));
  if (left.length === 0) {
    remove(item, path);
  } else {
    write(item, path, setOf(existing, left));
  }
}

/** Later list positions first, so that removing one does not move the next. */
function byDescendingPosition(left: { path: Path }, right: { path: Path }): number {
  const one = left.path.at(-1);
  const other = right.path.at(-1);
  return typeof one === 'number' && typeof other === 'number' ? other - one : 0;
}

/**
 * Applies a parsed update to a copy of `old` (or of the bare key) and returns it.
 * Throws ValidationException for wrong operand types, paths and absent operands.
 */
export function applyUpdate(sections: readonly UpdateSection[], old: Item): Item {
  const item = cloneItem(old);
  const values = sections.map((section) => (section.type === 'set' ? resolve(section.val, old) : undefined));
  const removals: { path: Path }[] = [];
  sections.forEach((section, index) => {
    const value = values[index];
    if (section.type === 'set' && value !== undefined) {
      write(item, section.path, value);
    } else if (section.type === 'add') {
      add(item, section.path, section.val);
    } else if (section.type === 'delete') {
      removeElements(item, section.path, section.val);
    } else {
      removals.push(section);
    }
  });
  for (const removal of removals.toSorted(byDescendingPosition)) {
    remove(item, removal.path);
  }
  return item;
}
