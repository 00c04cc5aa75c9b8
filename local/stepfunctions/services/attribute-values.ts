import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { JsonObject, JsonValue } from '../../../lambdas/core/json.ts';
import { isJsonList, isJsonObject } from '../../edge/json.ts';

import { requireText, unusable } from './parameters.ts';

/** The aws-sdk integrations spell these tags their own way. */
const SDK_SPELLING: Readonly<Record<string, string>> = {
  BOOL: 'Bool',
  NULL: 'Nul',
  SS: 'Ss',
  NS: 'Ns',
  BS: 'Bs',
};

/** Reads a value in DynamoDB's JSON, in either spelling of the tags; bytes are base64. */
export function readAttributeValue(value: JsonValue, path: string): AttributeValue {
  if (!isJsonObject(value)) throw unusable(`The value for the field '${path}' must be an object`);
  const [entry, ...others] = Object.entries(value);
  if (entry === undefined || others.length > 0) {
    throw unusable(`The value for the field '${path}' must have exactly one type tag`);
  }
  const [tag, content] = entry;
  const at = `${path}.${tag}`;
  switch (tag) {
    case 'S':
      return { S: requireText(content, at) };
    case 'N':
      return { N: requireText(content, at) };
    case 'B':
      return { B: readBytes(content, at) };
    case 'SS':
    case 'Ss':
      return { SS: readList(content, at, requireText) };
    case 'NS':
    case 'Ns':
      return { NS: readList(content, at, requireText) };
    case 'BS':
    case 'Bs':
      return { BS: readList(content, at, readBytes) };
    case 'L':
      return { L: readList(content, at, readAttributeValue) };
    case 'M':
      if (!isJsonObject(content)) throw unusable(`The value for the field '${at}' must be an object`);
      return {
        M: Object.fromEntries(
          Object.entries(content).map(([name, item]) => [name, readAttributeValue(item, `${at}.${name}`)]),
        ),
      };
    case 'BOOL':
    case 'Bool':
      if (typeof content !== 'boolean') throw unusable(`The value for the field '${at}' must be a boolean`);
      return { BOOL: content };
    case 'NULL':
    case 'Nul':
      return { NULL: true };
    default:
      throw unusable(`The field '${tag}' at '${path}' is not an attribute value's type`);
  }
}

function readList<T>(value: JsonValue, path: string, read: (item: JsonValue, itemPath: string) => T): T[] {
  if (!isJsonList(value)) throw unusable(`The value for the field '${path}' must be an array`);
  return value.map((item, index) => read(item, `${path}[${index}]`));
}

function readBytes(value: JsonValue, path: string): Uint8Array {
  return Buffer.from(requireText(value, path), 'base64');
}

/** Writes an item in the spelling of the integration. */
export function writeItem(item: Readonly<Record<string, AttributeValue>>, sdkSpelling: boolean): JsonObject {
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, writeAttributeValue(value, sdkSpelling)]),
  );
}

function writeAttributeValue(value: AttributeValue, sdkSpelling: boolean): JsonObject {
  const tagged = (tag: string, content: JsonValue): JsonObject => ({
    [sdkSpelling ? (SDK_SPELLING[tag] ?? tag) : tag]: content,
  });
  if (value.S !== undefined) return tagged('S', value.S);
  if (value.N !== undefined) return tagged('N', value.N);
  if (value.BOOL !== undefined) return tagged('BOOL', value.BOOL);
  if (value.NULL !== undefined) return tagged('NULL', true);
  if (value.SS !== undefined) return tagged('SS', value.SS);
  if (value.NS !== undefined) return tagged('NS', value.NS);
  if (value.B !== undefined) return tagged('B', base64(value.B));
  if (value.BS !== undefined) return tagged('BS', value.BS.map(base64));
  if (value.L !== undefined) {
    return tagged(
      'L',
      value.L.map((item) => writeAttributeValue(item, sdkSpelling)),
    );
  }
  return tagged('M', writeItem(value.M ?? {}, sdkSpelling));
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
