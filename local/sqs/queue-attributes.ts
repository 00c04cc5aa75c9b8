import { invalidAttributeName, invalidAttributeValue } from './errors.ts';

/** A queue's settings as the API carries them: strings, with the defaults filled in. */
export type QueueAttributes = Readonly<Record<string, string>>;

/** 1 MiB: the largest message, and the largest batch. */
export const MAX_MESSAGE_BYTES = 1_048_576;
export const MAX_VISIBILITY_SECONDS = 43_200;
export const MAX_DELAY_SECONDS = 900;

const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  DelaySeconds: [0, MAX_DELAY_SECONDS],
  MaximumMessageSize: [1_024, MAX_MESSAGE_BYTES],
  MessageRetentionPeriod: [60, 1_209_600],
  ReceiveMessageWaitTimeSeconds: [0, 20],
  VisibilityTimeout: [0, MAX_VISIBILITY_SECONDS],
  KmsDataKeyReusePeriodSeconds: [60, 86_400],
};

const BOOLEANS = ['FifoQueue', 'ContentBasedDeduplication', 'SqsManagedSseEnabled'];
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  DeduplicationScope: ['messageGroup', 'queue'],
  FifoThroughputLimit: ['perQueue', 'perMessageGroupId'],
};
const FREE = ['Policy', 'RedriveAllowPolicy', 'KmsMasterKeyId', 'RedrivePolicy'];
const FIFO_ONLY = ['FifoQueue', 'ContentBasedDeduplication', 'DeduplicationScope', 'FifoThroughputLimit'];

const DEFAULTS: QueueAttributes = {
  DelaySeconds: '0',
  MaximumMessageSize: String(MAX_MESSAGE_BYTES),
  MessageRetentionPeriod: '345600',
  ReceiveMessageWaitTimeSeconds: '0',
  VisibilityTimeout: '30',
  SqsManagedSseEnabled: 'true',
};

const FIFO_DEFAULTS: QueueAttributes = {
  ContentBasedDeduplication: 'false',
  DeduplicationScope: 'queue',
  FifoThroughputLimit: 'perQueue',
};

/** Where messages go that were received too often. */
export interface RedrivePolicy {
  readonly deadLetterTargetArn: string;
  readonly maxReceiveCount: number;
}

/** A new queue's attributes: the given ones over the defaults. */
export function initialAttributes(given: QueueAttributes, fifo: boolean): QueueAttributes {
  return changedAttributes({ ...DEFAULTS, ...(fifo ? FIFO_DEFAULTS : {}) }, given, fifo);
}

/**
 * The attributes after a change; an empty policy removes it.
 *
 * @throws SqsError `InvalidAttributeName` or `InvalidAttributeValue`.
 */
export function changedAttributes(
  before: QueueAttributes,
  change: QueueAttributes,
  fifo: boolean,
): QueueAttributes {
  const after: Record<string, string> = { ...before };
  for (const [name, value] of Object.entries(change)) {
    checkAttribute(name, value, fifo);
    if (FREE.includes(name) && value === '') delete after[name];
    else after[name] = value;
  }
  return after;
}

function checkAttribute(name: string, value: string, fifo: boolean): void {
  const range = RANGES[name];
  const choices = BOOLEANS.includes(name) ? ['true', 'false'] : CHOICES[name];
  if (range === undefined && choices === undefined && !FREE.includes(name)) throw invalidAttributeName(name);
  if (FIFO_ONLY.includes(name) && !fifo) throw invalidAttributeName(name);
  if (name === 'FifoQueue' && value !== 'true') throw invalidAttributeValue(name);
  if (choices !== undefined && !choices.includes(value)) throw invalidAttributeValue(name);
  if (range !== undefined) {
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= range[0] && number <= range[1])) throw invalidAttributeValue(name);
  }
  if (name === 'RedrivePolicy' && value !== '') parseRedrivePolicy(value);
}

/** @throws SqsError `InvalidAttributeValue` when the policy can't be read. */
export function parseRedrivePolicy(text: string): RedrivePolicy {
  let policy: unknown;
  try {
    policy = JSON.parse(text);
  } catch {
    throw invalidAttributeValue('RedrivePolicy', 'Redrive policy is not a valid JSON map.');
  }
  if (typeof policy !== 'object' || policy === null) {
    throw invalidAttributeValue('RedrivePolicy', 'Redrive policy is not a valid JSON map.');
  }
  const arn = 'deadLetterTargetArn' in policy ? policy.deadLetterTargetArn : undefined;
  const count = Number('maxReceiveCount' in policy ? policy.maxReceiveCount : undefined);
  if (typeof arn !== 'string') {
    throw invalidAttributeValue(
      'RedrivePolicy',
      'Redrive policy does not contain mandatory attribute: deadLetterTargetArn.',
    );
  }
  if (!Number.isInteger(count) || count < 1 || count > 1_000) {
    throw invalidAttributeValue(
      'RedrivePolicy',
      'Invalid value for maxReceiveCount. Must be between 1 and 1000.',
    );
  }
  return { deadLetterTargetArn: arn, maxReceiveCount: count };
}
