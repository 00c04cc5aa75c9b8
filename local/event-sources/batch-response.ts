import type { JsonObject, JsonValue } from '../../lambdas/core/json.ts';

/**
 * Which of a batch's items failed, by the rules of `ReportBatchItemFailures`: nothing, `{}`, and a null or
 * empty list mean success; a response of another form, or an identifier that is empty or not of this batch,
 * fails the whole batch.
 */
export function failedItems(response: JsonValue, batch: ReadonlySet<string>): ReadonlySet<string> | 'all' {
  if (response === null) return new Set();
  if (!isObject(response)) return 'all';
  const failures = response.batchItemFailures ?? null;
  if (failures === null) return new Set();
  if (!isList(failures)) return 'all';
  const failed = new Set<string>();
  for (const failure of failures) {
    const id = isObject(failure) ? failure.itemIdentifier : undefined;
    if (typeof id !== 'string' || !batch.has(id)) return 'all';
    failed.add(id);
  }
  return failed;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
