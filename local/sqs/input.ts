import type { JsonObject } from '../../lambdas/core/json.ts';
import { isJsonList, isJsonObject } from '../edge/json.ts';
import { batchError, invalidParameter, invalidValue, missingParameter } from './errors.ts';
import type { MessageAttribute, MessageAttributes } from './message.ts';
import type { Queue } from './queue.ts';
import type { SqsStore } from './store.ts';

const MAX_BATCH_ENTRIES = 10;

/** A string that may be left out. */
export function optionalText(input: JsonObject, name: string): string | undefined {
  const value = input[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalidParameter(`${name} must be a string.`);
  return value;
}

/** A string that must be there. */
export function text(input: JsonObject, name: string): string {
  const value = optionalText(input, name);
  if (value === undefined || value === '') throw missingParameter(name);
  return value;
}

/** An integer within its documented range that may be left out. */
export function optionalInteger(
  input: JsonObject,
  name: string,
  [least, most]: readonly [number, number],
): number | undefined {
  const value = input[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    throw invalidValue(name, value, `Must be between ${least} and ${most}, if provided.`);
  }
  return value;
}

/** A map of strings; empty when left out. */
export function textMap(input: JsonObject, name: string): Readonly<Record<string, string>> {
  const map: Record<string, string> = {};
  for (const [key, value] of Object.entries(object(input, name))) {
    if (typeof value !== 'string') throw invalidParameter(`${name}.${key} must be a string.`);
    map[key] = value;
  }
  return map;
}

/** A list of strings; empty when left out. */
export function textList(input: JsonObject, name: string): readonly string[] {
  const value = input[name];
  if (value === undefined || value === null) return [];
  if (!isJsonList(value)) throw invalidParameter(`${name} must be a list.`);
  return value.map((item) => {
    if (typeof item !== 'string') throw invalidParameter(`${name} must hold strings.`);
    return item;
  });
}

function object(input: JsonObject, name: string): JsonObject {
  const value = input[name];
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) throw invalidParameter(`${name} must be a map.`);
  return value;
}

/** Message attributes, each checked for its type and value. */
export function messageAttributes(input: JsonObject, name: string): MessageAttributes {
  const attributes: Record<string, MessageAttribute> = {};
  const given = Object.entries(object(input, name));
  if (given.length > MAX_BATCH_ENTRIES) {
    throw invalidParameter(
      `Number of message attributes [${given.length}] exceeds the allowed maximum [10].`,
    );
  }
  for (const [key, value] of given) {
    if (!/^(?!\.)(?!.*\.\.)[\w.-]{1,256}(?<!\.)$/.test(key) || /^(aws|amazon)\./i.test(key)) {
      throw invalidParameter(`Message (user) attribute name '${key}' is not allowed.`);
    }
    if (!isJsonObject(value)) throw invalidParameter(`Message (user) attribute '${key}' must be a map.`);
    attributes[key] = messageAttribute(key, value);
  }
  return attributes;
}

function messageAttribute(name: string, value: JsonObject): MessageAttribute {
  const DataType = optionalText(value, 'DataType') ?? '';
  const StringValue = optionalText(value, 'StringValue');
  const BinaryValue = optionalText(value, 'BinaryValue');
  if (DataType === '') {
    throw invalidParameter(
      `The message (user) attribute '${name}' must contain a non-empty message attribute type.`,
    );
  }
  if (!/^(String|Number|Binary)(\.|$)/.test(DataType)) {
    throw invalidParameter(
      `The type of message (user) attribute '${name}' is invalid. You must use only the following supported type prefixes: Binary, Number, String.`,
    );
  }
  const content = DataType.startsWith('Binary') ? BinaryValue : StringValue;
  if (content === undefined || content === '') {
    throw invalidParameter(
      `The message (user) attribute '${name}' must contain a non-empty message attribute value.`,
    );
  }
  if (DataType.startsWith('Number') && !Number.isFinite(Number(content))) {
    throw invalidParameter(`Can't cast the value of message (user) attribute '${name}' to a number.`);
  }
  return {
    DataType,
    ...(StringValue === undefined ? {} : { StringValue }),
    ...(BinaryValue === undefined ? {} : { BinaryValue }),
  };
}

/** The queue that `QueueUrl` names; only the URL's last part counts, so that any host works. */
export function queueOf(store: SqsStore, input: JsonObject): Queue {
  return store.queue(text(input, 'QueueUrl').split('/').at(-1) ?? '');
}

/** A batch's entries, each with an id of its own. */
export function batchEntries(
  input: JsonObject,
): readonly { readonly id: string; readonly entry: JsonObject }[] {
  const value = input.Entries;
  if (value === undefined || value === null || !isJsonList(value) || value.length === 0) {
    throw batchError('EmptyBatchRequest', 'There should be at least one entry in the request.');
  }
  if (value.length > MAX_BATCH_ENTRIES) {
    const message = `Maximum number of entries per request are ${MAX_BATCH_ENTRIES}. You have sent ${value.length}.`;
    throw batchError('TooManyEntriesInBatchRequest', message);
  }
  const seen = new Set<string>();
  return value.map((entry) => {
    if (!isJsonObject(entry)) throw invalidParameter('Every entry must be a map.');
    const id = text(entry, 'Id');
    if (!/^[\w-]{1,80}$/.test(id)) {
      const message =
        'A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.';
      throw batchError('InvalidBatchEntryId', message);
    }
    if (seen.has(id)) throw batchError('BatchEntryIdsNotDistinct', `Id ${id} repeated.`);
    seen.add(id);
    return { id, entry };
  });
}
