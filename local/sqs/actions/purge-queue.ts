import type { Action } from '../action.ts';
import { queueOf } from '../input.ts';

export const purgeQueue: Action = ({ store }, input) => {
  store.purge(queueOf(store, input));
  return {};
};
