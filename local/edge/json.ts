import type { JsonObject, JsonValue } from '../../lambdas/core/json.ts';

/** Whether a JSON value is an object. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isJsonList(value);
}

/** Whether a JSON value is an array; unlike `Array.isArray`, it knows what the items are. */
export function isJsonList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
