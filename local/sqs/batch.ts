import type { JsonObject } from '../../lambdas/core/json.ts';
import { SqsError } from './errors.ts';
import { batchEntries } from './input.ts';

/** Does `work` for every entry of a batch; an error of one is that entry's failure and nobody else's. */
export function forEachEntry(input: JsonObject, work: (entry: JsonObject) => JsonObject): JsonObject {
  const Successful: JsonObject[] = [];
  const Failed: JsonObject[] = [];
  for (const { id, entry } of batchEntries(input)) {
    try {
      Successful.push({ Id: id, ...work(entry) });
    } catch (error) {
      if (!(error instanceof SqsError)) throw error;
      Failed.push({ Id: id, Code: error.queryCode, Message: error.message, SenderFault: error.status < 500 });
    }
  }
  return { Successful, Failed };
}
