import type { JsonObject } from '../../../lambdas/core/json.ts';
import type { Action } from '../action.ts';
import { missingParameter } from '../errors.ts';
import { optionalInteger, queueOf, text } from '../input.ts';
import type { Queue } from '../queue.ts';
import { MAX_VISIBILITY_SECONDS } from '../queue-attributes.ts';
import type { SqsStore } from '../store.ts';

export const changeMessageVisibility: Action = ({ store }, input) => {
  changeOne(store, queueOf(store, input), input);
  return {};
};

/** Changes one message's visibility; also one entry of a batch. */
export function changeOne(store: SqsStore, queue: Queue, input: JsonObject): void {
  const handle = text(input, 'ReceiptHandle');
  const seconds = optionalInteger(input, 'VisibilityTimeout', [0, MAX_VISIBILITY_SECONDS]);
  if (seconds === undefined) throw missingParameter('VisibilityTimeout');
  store.changeVisibility(queue, handle, seconds);
}
