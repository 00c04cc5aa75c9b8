import type { JsonObject, JsonValue } from '../../../lambdas/core/json.ts';
import type { Action } from '../action.ts';
import { forEachEntry } from '../batch.ts';
import { batchError } from '../errors.ts';
import { batchEntries, messageAttributes, optionalText, queueOf } from '../input.ts';
import { messageBytes } from '../message.ts';
import { MAX_MESSAGE_BYTES } from '../queue-attributes.ts';
import { parseMessage, sendOne } from './send-message.ts';

export const sendMessageBatch: Action = ({ store }, input) => {
  const queue = queueOf(store, input);
  const bytes = batchEntries(input).reduce((sum, { entry }) => sum + entryBytes(entry), 0);
  if (bytes > MAX_MESSAGE_BYTES) {
    const message = `Batch requests cannot be longer than ${MAX_MESSAGE_BYTES} bytes. You have sent ${bytes} bytes.`;
    throw batchError('BatchRequestTooLong', message);
  }
  return forEachEntry(input, (entry) => {
    const { MD5OfMessageBody = '', ...sent }: Record<string, JsonValue> = {
      ...sendOne(store, queue, parseMessage(queue, entry)),
    };
    return { ...sent, MD5OfMessageBody };
  });
};

function entryBytes(entry: JsonObject): number {
  return messageBytes({
    body: optionalText(entry, 'MessageBody') ?? '',
    attributes: messageAttributes(entry, 'MessageAttributes'),
  });
}
