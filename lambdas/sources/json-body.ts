import type { JsonObject, JsonValue } from '../core/json.ts';
import { parseStrictJson } from '../core/strict-json.ts';

/** The body as a JSON object; undefined when it is anything else. */
export function objectOf(body: string): JsonObject | undefined {
  const parsed = parseStrictJson(body);
  return parsed.ok ? asObject(parsed.value) : undefined;
}

export const asObject = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined);

/** The property as text. @throws TypeError naming the property */
export function textIn(object: JsonObject, property: string): string {
  const value: JsonValue | undefined = object[property];
  if (typeof value !== 'string') throw new TypeError(`${property} must be a string`);
  return value;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
