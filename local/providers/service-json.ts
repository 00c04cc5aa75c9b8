import type { JsonObject, JsonValue } from '../../lambdas/core/json.ts';
import { isJsonObject } from '../edge/json.ts';

/** A request's body as an object; undefined when it is none. */
export function jsonObject(text: string): JsonObject | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
