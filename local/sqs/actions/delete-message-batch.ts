import type { Action } from '../action.ts';
import { forEachEntry } from '../batch.ts';
import { queueOf, text } from '../input.ts';

export const deleteMessageBatch: Action = ({ store }, input) => {
  const queue = queueOf(store, input);
  return forEachEntry(input, (entry) => {
    store.delete(queue, text(entry, 'ReceiptHandle'));
    return {};
  });
};
