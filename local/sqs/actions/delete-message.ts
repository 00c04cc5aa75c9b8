import type { Action } from '../action.ts';
import { queueOf, text } from '../input.ts';

export const deleteMessage: Action = ({ store }, input) => {
  store.delete(queueOf(store, input), text(input, 'ReceiptHandle'));
  return {};
};
