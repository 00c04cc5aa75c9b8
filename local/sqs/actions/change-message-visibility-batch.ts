import type { Action } from '../action.ts';
import { forEachEntry } from '../batch.ts';
import { queueOf } from '../input.ts';
import { changeOne } from './change-message-visibility.ts';

export const changeMessageVisibilityBatch: Action = ({ store }, input) => {
  const queue = queueOf(store, input);
  return forEachEntry(input, (entry) => {
    changeOne(store, queue, entry);
    return {};
  });
};
