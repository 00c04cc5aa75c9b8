import type { Action } from '../action.ts';
import { invalidValue } from '../errors.ts';
import { text, textMap } from '../input.ts';
import { queueUrl } from './get-queue-url.ts';

export const createQueue: Action = ({ store, baseUrl }, input) => {
  const name = text(input, 'QueueName');
  const attributes = textMap(input, 'Attributes');
  if (!/^[\w-]{1,80}$/.test(name.replace(/\.fifo$/, '-fifo'))) {
    const reason = 'Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length';
    throw invalidValue('QueueName', name, reason);
  }
  if (name.endsWith('.fifo') !== (attributes.FifoQueue === 'true')) {
    const reason = 'The name of a FIFO queue ends with .fifo, and its attribute FifoQueue is true.';
    throw invalidValue('QueueName', name, reason);
  }
  store.createQueue(name, attributes, textMap(input, 'tags'));
  return { QueueUrl: queueUrl(baseUrl, store.account, name) };
};
