import type { Action } from '../action.ts';
import { text } from '../input.ts';

export const getQueueUrl: Action = ({ store, baseUrl }, input) => {
  const { name } = store.queue(text(input, 'QueueName'));
  return { QueueUrl: queueUrl(baseUrl, store.account, name) };
};

/** A queue's URL under the address at which the caller reached the service. */
export function queueUrl(baseUrl: string, account: string, name: string): string {
  return `${baseUrl}/${account}/${name}`;
}
