import type { Action } from '../action.ts';
import { queueOf, textList, textMap } from '../input.ts';

export const tagQueue: Action = ({ store }, input) => {
  const queue = queueOf(store, input);
  queue.tags = { ...queue.tags, ...textMap(input, 'Tags') };
  return {};
};

export const untagQueue: Action = ({ store }, input) => {
  const queue = queueOf(store, input);
  const gone = textList(input, 'TagKeys');
  queue.tags = Object.fromEntries(Object.entries(queue.tags).filter(([key]) => !gone.includes(key)));
  return {};
};

export const listQueueTags: Action = ({ store }, input) => {
  const { tags } = queueOf(store, input);
  return Object.keys(tags).length === 0 ? {} : { Tags: { ...tags } };
};
