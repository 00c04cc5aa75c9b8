import type { Clock } from '../../lambdas/core/clock.ts';
import type { JsonValue } from '../../lambdas/core/json.ts';
import { bodyText, type Dispatch, type EdgeResponse, jsonResponse } from '../edge/http.ts';
import { isJsonObject } from '../edge/json.ts';
import type { Action } from './action.ts';
import { changeMessageVisibility } from './actions/change-message-visibility.ts';
import { changeMessageVisibilityBatch } from './actions/change-message-visibility-batch.ts';
import { createQueue } from './actions/create-queue.ts';
import { deleteMessage } from './actions/delete-message.ts';
import { deleteMessageBatch } from './actions/delete-message-batch.ts';
import { deleteQueue } from './actions/delete-queue.ts';
import { getQueueAttributes } from './actions/get-queue-attributes.ts';
import { getQueueUrl } from './actions/get-queue-url.ts';
import { listDeadLetterSourceQueues, listQueues } from './actions/list-queues.ts';
import {
  cancelMessageMoveTask,
  listMessageMoveTasks,
  startMessageMoveTask,
} from './actions/message-move-tasks.ts';
import { purgeQueue } from './actions/purge-queue.ts';
import { listQueueTags, tagQueue, untagQueue } from './actions/queue-tags.ts';
import { receiveMessage } from './actions/receive-message.ts';
import { sendMessage } from './actions/send-message.ts';
import { sendMessageBatch } from './actions/send-message-batch.ts';
import { setQueueAttributes } from './actions/set-queue-attributes.ts';
import { SqsError, unsupportedOperation } from './errors.ts';
import type { SqsStore } from './store.ts';

const ACTIONS: Readonly<Record<string, Action>> = {
  CancelMessageMoveTask: cancelMessageMoveTask,
  ChangeMessageVisibility: changeMessageVisibility,
  ChangeMessageVisibilityBatch: changeMessageVisibilityBatch,
  CreateQueue: createQueue,
  DeleteMessage: deleteMessage,
  DeleteMessageBatch: deleteMessageBatch,
  DeleteQueue: deleteQueue,
  GetQueueAttributes: getQueueAttributes,
  GetQueueUrl: getQueueUrl,
  ListDeadLetterSourceQueues: listDeadLetterSourceQueues,
  ListMessageMoveTasks: listMessageMoveTasks,
  ListQueues: listQueues,
  ListQueueTags: listQueueTags,
  PurgeQueue: purgeQueue,
  ReceiveMessage: receiveMessage,
  SendMessage: sendMessage,
  SendMessageBatch: sendMessageBatch,
  SetQueueAttributes: setQueueAttributes,
  StartMessageMoveTask: startMessageMoveTask,
  TagQueue: tagQueue,
  UntagQueue: untagQueue,
};

/** Serves SQS's AWS JSON protocol (`X-Amz-Target: AmazonSQS.<Action>`) from a store. */
export function createSqsDispatch({
  store,
  clock,
}: {
  readonly store: SqsStore;
  readonly clock: Clock;
}): Dispatch {
  return async (request) => {
    try {
      const name = (request.headers['x-amz-target'] ?? '').replace('AmazonSQS.', '');
      const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
      if (action === undefined)
        throw unsupportedOperation(`The local SQS has no action ${JSON.stringify(name)}.`);
      const input: JsonValue = JSON.parse(bodyText(request) || '{}');
      if (!isJsonObject(input))
        throw new SqsError('SerializationException', 'The body must be a JSON object.');
      const output = await action(
        {
          store,
          clock,
          baseUrl: `http://${request.headers.host ?? '127.0.0.1'}`,
          ...(request.signal === undefined ? {} : { signal: request.signal }),
        },
        input,
      );
      return jsonResponse(200, output);
    } catch (error) {
      return errorResponse(error);
    }
  };
}

function errorResponse(error: unknown): EdgeResponse {
  if (error instanceof SyntaxError) {
    return errorResponse(new SqsError('SerializationException', 'The body is not valid JSON.'));
  }
  if (!(error instanceof SqsError)) throw error;
  const { code, message, queryCode, status } = error;
  return jsonResponse(
    status,
    { __type: `com.amazonaws.sqs#${code}`, message },
    { 'x-amzn-query-error': `${queryCode};${status < 500 ? 'Sender' : 'Receiver'}` },
  );
}
