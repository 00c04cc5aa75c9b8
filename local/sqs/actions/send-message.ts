import type { JsonObject } from '../../../lambdas/core/json.ts';
import type { Action } from '../action.ts';
import { invalidContents, invalidParameter, invalidValue, missingParameter } from '../errors.ts';
import { messageAttributes, optionalInteger, optionalText, queueOf, text } from '../input.ts';
import { md5, md5OfAttributes, messageBytes, type NewMessage } from '../message.ts';
import type { Queue } from '../queue.ts';
import { MAX_DELAY_SECONDS } from '../queue-attributes.ts';
import type { SqsStore } from '../store.ts';

/** What XML 1.0 can't carry; a lone surrogate included. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the service refuses exactly these
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u;
const PRINTABLE = /^[\x21-\x7e]{1,128}$/;
const WRONG_TYPE = 'The request include parameter that is not valid for this queue type';

export const sendMessage: Action = ({ store }, input) => {
  const queue = queueOf(store, input);
  return sendOne(store, queue, parseMessage(queue, input));
};

/** Checks one message against the queue's rules. */
export function parseMessage(queue: Queue, input: JsonObject): NewMessage {
  const body = text(input, 'MessageBody');
  if (FORBIDDEN.test(body)) throw invalidContents();
  const attributes = messageAttributes(input, 'MessageAttributes');
  const limit = queue.number('MaximumMessageSize');
  if (messageBytes({ body, attributes }) > limit) {
    const message = `One or more parameters are invalid. Reason: Message must be shorter than ${limit} bytes.`;
    throw invalidParameter(message);
  }
  const delaySeconds = optionalInteger(input, 'DelaySeconds', [0, MAX_DELAY_SECONDS]);
  const groupId = printable(input, 'MessageGroupId');
  const deduplicationId = printable(input, 'MessageDeduplicationId');
  if (queue.fifo) {
    if (groupId === undefined) throw missingParameter('MessageGroupId');
    if (delaySeconds !== undefined && delaySeconds > 0)
      throw invalidValue('DelaySeconds', delaySeconds, WRONG_TYPE);
    if (deduplicationId === undefined && queue.attributes.ContentBasedDeduplication !== 'true') {
      throw invalidParameter(
        'The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly',
      );
    }
  } else if (deduplicationId !== undefined) {
    throw invalidValue('MessageDeduplicationId', deduplicationId, WRONG_TYPE);
  }
  return {
    body,
    attributes,
    systemAttributes: messageAttributes(input, 'MessageSystemAttributes'),
    ...(groupId === undefined ? {} : { groupId }),
    ...(deduplicationId === undefined ? {} : { deduplicationId }),
    ...(delaySeconds === undefined || queue.fifo ? {} : { delaySeconds }),
  };
}

/** Stores a checked message and shapes the answer. */
export function sendOne(store: SqsStore, queue: Queue, message: NewMessage): JsonObject {
  const { id, sequenceNumber } = store.send(queue, message);
  const ofAttributes = md5OfAttributes(message.attributes);
  const ofSystemAttributes = md5OfAttributes(message.systemAttributes);
  return {
    MessageId: id,
    MD5OfMessageBody: md5(message.body),
    ...(ofAttributes === undefined ? {} : { MD5OfMessageAttributes: ofAttributes }),
    ...(ofSystemAttributes === undefined ? {} : { MD5OfMessageSystemAttributes: ofSystemAttributes }),
    ...(sequenceNumber === undefined ? {} : { SequenceNumber: sequenceNumber }),
  };
}

function printable(input: JsonObject, name: string): string | undefined {
  const value = optionalText(input, name);
  if (value !== undefined && !PRINTABLE.test(value)) {
    throw invalidValue(
      name,
      value,
      `${name} can only include alphanumeric and punctuation characters. 1 to 128 in length.`,
    );
  }
  return value;
}
