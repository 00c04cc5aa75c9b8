import type { Action } from '../action.ts';
import { queueOf } from '../input.ts';

export const deleteQueue: Action = ({ store }, input) => {
  store.deleteQueue(queueOf(store, input).name);
  return {};
};
