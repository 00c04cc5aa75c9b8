import type { JsonObject } from '../../../lambdas/core/json.ts';
import type { Action } from '../action.ts';
import { optionalInteger, queueOf, textList } from '../input.ts';
import { type MessageAttributes, md5, md5OfAttributes, type StoredMessage } from '../message.ts';
import type { Queue } from '../queue.ts';
import { MAX_VISIBILITY_SECONDS } from '../queue-attributes.ts';

/** Who a message seems to be from; the local runtime knows no identities. */
const SENDER_ID = 'AIDALOCALLOCALLOCALLO';

export const receiveMessage: Action = async ({ store, signal }, input) => {
  const queue = queueOf(store, input);
  const max = optionalInteger(input, 'MaxNumberOfMessages', [1, 10]) ?? 1;
  const visibility = optionalInteger(input, 'VisibilityTimeout', [0, MAX_VISIBILITY_SECONDS]);
  const wait = optionalInteger(input, 'WaitTimeSeconds', [0, 20]);
  const messages = await store.receive(queue, {
    max,
    waitSeconds: wait ?? queue.number('ReceiveMessageWaitTimeSeconds'),
    visibilitySeconds: visibility ?? queue.number('VisibilityTimeout'),
    ...(signal === undefined ? {} : { signal }),
  });
  if (messages.length === 0) return {};
  const system = new Set([
    ...textList(input, 'AttributeNames'),
    ...textList(input, 'MessageSystemAttributeNames'),
  ]);
  const user = textList(input, 'MessageAttributeNames');
  return { Messages: messages.map((message) => shape(queue, message, system, user)) };
};

function shape(
  queue: Queue,
  message: StoredMessage,
  system: ReadonlySet<string>,
  user: readonly string[],
): JsonObject {
  const Attributes = Object.fromEntries(
    Object.entries(systemAttributes(message)).filter(([name]) => system.has('All') || system.has(name)),
  );
  const MessageAttributes = selected(message.attributes, user);
  const digest = md5OfAttributes(MessageAttributes);
  return {
    MessageId: message.id,
    ReceiptHandle: queue.receiptHandle(message),
    MD5OfBody: md5(message.body),
    Body: message.body,
    ...(Object.keys(Attributes).length === 0 ? {} : { Attributes }),
    ...(digest === undefined
      ? {}
      : { MD5OfMessageAttributes: digest, MessageAttributes: jsonAttributes(MessageAttributes) }),
  };
}

function systemAttributes(message: StoredMessage): Record<string, string> {
  const { groupId, deduplicationId, sequenceNumber, sourceArn, systemAttributes: given } = message;
  const trace = given.AWSTraceHeader?.StringValue;
  return {
    ApproximateReceiveCount: String(message.receiveCount),
    SentTimestamp: String(message.sentAt),
    SenderId: SENDER_ID,
    ApproximateFirstReceiveTimestamp: String(message.firstReceivedAt ?? 0),
    ...(groupId === undefined ? {} : { MessageGroupId: groupId }),
    ...(deduplicationId === undefined ? {} : { MessageDeduplicationId: deduplicationId }),
    ...(sequenceNumber === undefined ? {} : { SequenceNumber: sequenceNumber }),
    ...(sourceArn === undefined ? {} : { DeadLetterQueueSourceArn: sourceArn }),
    ...(trace === undefined ? {} : { AWSTraceHeader: trace }),
  };
}

/** Names may be `All`, `.*`, a full name, or a prefix followed by `.*`. */
function selected(attributes: MessageAttributes, names: readonly string[]): MessageAttributes {
  if (names.includes('All') || names.includes('.*')) return attributes;
  const wanted = (name: string) =>
    names.some((each) => each === name || (each.endsWith('.*') && name.startsWith(each.slice(0, -2))));
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => wanted(name)));
}

function jsonAttributes(attributes: MessageAttributes): JsonObject {
  return Object.fromEntries(Object.entries(attributes).map(([name, attribute]) => [name, { ...attribute }]));
}
