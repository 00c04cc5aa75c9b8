import type { JsonObject } from '../../../lambdas/core/json.ts';
import type { Action } from '../action.ts';
import { optionalInteger, optionalText, queueOf } from '../input.ts';
import { queueUrl } from './get-queue-url.ts';

export const listQueues: Action = ({ store, baseUrl }, input) => {
  const prefix = optionalText(input, 'QueueNamePrefix') ?? '';
  const names = store.queues().map(({ name }) => name);
  const { page, next } = paged(
    names.filter((name) => name.startsWith(prefix)),
    input,
  );
  return { QueueUrls: page.map((name) => queueUrl(baseUrl, store.account, name)), ...next };
};

export const listDeadLetterSourceQueues: Action = ({ store, baseUrl }, input) => {
  const sources = store.deadLetterSources(queueOf(store, input)).map(({ name }) => name);
  const { page, next } = paged(sources, input);
  return { queueUrls: page.map((name) => queueUrl(baseUrl, store.account, name)), ...next };
};

/** One page of a list; the token is the place at which the next one begins. */
function paged(
  items: readonly string[],
  input: JsonObject,
): { readonly page: readonly string[]; readonly next: JsonObject } {
  const start = Number(optionalText(input, 'NextToken') ?? 0);
  const size = optionalInteger(input, 'MaxResults', [1, 1_000]) ?? 1_000;
  const end = start + size;
  return { page: items.slice(start, end), next: end < items.length ? { NextToken: String(end) } : {} };
}
