import type { Action } from '../action.ts';
import { queueOf, textMap } from '../input.ts';

export const setQueueAttributes: Action = ({ store }, input) => {
  store.setAttributes(queueOf(store, input), textMap(input, 'Attributes'));
  return {};
};
