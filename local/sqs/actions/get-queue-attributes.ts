import type { Action } from '../action.ts';
import { invalidAttributeName } from '../errors.ts';
import { queueOf, textList } from '../input.ts';

const OPTIONAL = [
  'Policy',
  'RedrivePolicy',
  'RedriveAllowPolicy',
  'KmsMasterKeyId',
  'KmsDataKeyReusePeriodSeconds',
  'FifoQueue',
  'ContentBasedDeduplication',
  'DeduplicationScope',
  'FifoThroughputLimit',
];

export const getQueueAttributes: Action = ({ store, clock }, input) => {
  const queue = queueOf(store, input);
  const { visible, inFlight, delayed } = queue.counts(clock.now());
  const all: Record<string, string> = {
    ...queue.attributes,
    QueueArn: queue.arn,
    ApproximateNumberOfMessages: String(visible),
    ApproximateNumberOfMessagesNotVisible: String(inFlight),
    ApproximateNumberOfMessagesDelayed: String(delayed),
    CreatedTimestamp: String(Math.floor(queue.createdAt / 1_000)),
    LastModifiedTimestamp: String(Math.floor(queue.modifiedAt / 1_000)),
  };
  const wanted = textList(input, 'AttributeNames');
  for (const name of wanted) {
    if (name !== 'All' && !(name in all) && !OPTIONAL.includes(name)) throw invalidAttributeName(name);
  }
  const Attributes = Object.fromEntries(
    Object.entries(all).filter(([name]) => wanted.includes('All') || wanted.includes(name)),
  );
  return Object.keys(Attributes).length === 0 ? {} : { Attributes };
};
