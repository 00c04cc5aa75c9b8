import type { JsonValue } from '../../lambdas/core/json.ts';
import { isJsonList, isJsonObject } from '../edge/json.ts';

/**
 * Which of a batch's items failed, by the rules of `ReportBatchItemFailures`: nothing, `{}`, and a null or
 * empty list mean success; a response of another form, or an identifier that is empty or not of this batch,
 * fails the whole batch.
 */
export function failedItems(response: JsonValue, batch: ReadonlySet<string>): ReadonlySet<string> | 'all' {
  if (response === null) return new Set();
  if (!isJsonObject(response)) return 'all';
  const failures = response.batchItemFailures ?? null;
  if (failures === null) return new Set();
  if (!isJsonList(failures)) return 'all';
  const failed = new Set<string>();
  for (const failure of failures) {
    const id = isJsonObject(failure) ? failure.itemIdentifier : undefined;
    if (typeof id !== 'string' || !batch.has(id)) return 'all';
    failed.add(id);
  }
  return failed;
}
