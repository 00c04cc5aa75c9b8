import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ListMessageMoveTasksCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs';
import { parseEnvelope } from '../../lambdas/core/envelope.ts';
import { CliError } from '../cli-error.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { isFifo } from '../stack-names.ts';
import { plain, table } from '../table.ts';
import type { Target } from '../target.ts';

const RECEIVE_LIMIT = 10;
/** Nobody else gets a message while a person looks at it or it is sent on. */
const HOLD_SECONDS = 60;
const POLL_MILLIS = 1_000;

/** Shows dead letters and leaves them where they are. */
export async function peek(count: number, json: boolean, target: Target, io: Io): Promise<ExitCode> {
  const messages = await receive(count, target);
  for (const { ReceiptHandle } of messages) {
    await target.clients.sqs.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: target.names.dlqUrl,
        ReceiptHandle,
        VisibilityTimeout: 0,
      }),
    );
  }
  const rows = messages.map(describe);
  if (json) io.out(JSON.stringify(rows));
  else if (rows.length === 0) io.out('The dead-letter queue is empty.');
  else {
    io.out(
      table(
        ['message', 'code', 'type', 'schema', 'key', 'reason'],
        rows.map((row) => [
          row.messageId,
          row.code,
          row.messageType,
          row.schemaVersion,
          row.idempotencyKey,
          row.reason,
        ]),
      ),
    );
  }
  return EXIT.OK;
}

/** Sends dead letters back to the worker's queue: a sample one by one, or all of them by a move task. */
export async function redrive(
  options: { readonly sample?: number | undefined; readonly json: boolean },
  target: Target,
  io: Io,
): Promise<ExitCode> {
  if (options.sample === undefined) return moveAll(options.json, target, io);
  const messages = await receive(options.sample, target);
  const { sqs } = target.clients;
  const fifo = isFifo(target.names);
  for (const message of messages) {
    const attributes = Object.entries(message.MessageAttributes ?? {}).filter(
      ([name]) => name !== 'FailureCode' && name !== 'FailureReason',
    );
    const group = message.Attributes?.MessageGroupId;
    // Sent before it is deleted: a crash between the two makes a duplicate, which the key makes harmless.
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: target.names.queueUrl,
        MessageBody: message.Body ?? '',
        MessageAttributes: Object.fromEntries(attributes),
        ...(fifo
          ? { MessageGroupId: group ?? message.MessageId, MessageDeduplicationId: io.newId() }
          : group === undefined
            ? {}
            : { MessageGroupId: group }),
      }),
    );
    await sqs.send(
      new DeleteMessageCommand({ QueueUrl: target.names.dlqUrl, ReceiptHandle: message.ReceiptHandle }),
    );
  }
  if (options.json) io.out(JSON.stringify({ moved: messages.map(describe) }));
  else {
    io.out(`${messages.length} sent back to the queue.`);
    for (const { idempotencyKey } of messages.map(describe)) {
      if (idempotencyKey !== undefined) io.out(`  stepwell show '${plain(idempotencyKey)}'`);
    }
  }
  return EXIT.OK;
}

async function moveAll(json: boolean, target: Target, io: Io): Promise<ExitCode> {
  const { sqs } = target.clients;
  const SourceArn = target.names.dlqArn;
  await sqs.send(new StartMessageMoveTaskCommand({ SourceArn, DestinationArn: target.names.queueArn }));
  for (;;) {
    const { Results = [] } = await sqs.send(new ListMessageMoveTasksCommand({ SourceArn, MaxResults: 1 }));
    const [task] = Results;
    if (task === undefined) throw new CliError('SQS shows no move task of this queue', EXIT.FAILED);
    const moved = task.ApproximateNumberOfMessagesMoved ?? 0;
    if (task.Status !== 'RUNNING') {
      if (json) io.out(JSON.stringify({ status: task.Status, moved }));
      else io.out(`${task.Status}: ${moved} sent back to the queue.`);
      return task.Status === 'COMPLETED' ? EXIT.OK : EXIT.FAILED;
    }
    io.note(`${moved} of ${task.ApproximateNumberOfMessagesToMove ?? '?'} moved`);
    await io.clock.sleep(POLL_MILLIS, io.signal);
  }
}

async function receive(count: number, target: Target): Promise<readonly Message[]> {
  const messages: Message[] = [];
  while (messages.length < count) {
    const { Messages = [] } = await target.clients.sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: target.names.dlqUrl,
        MaxNumberOfMessages: Math.min(RECEIVE_LIMIT, count - messages.length),
        VisibilityTimeout: HOLD_SECONDS,
        WaitTimeSeconds: 0,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['All'],
      }),
    );
    if (Messages.length === 0) break;
    messages.push(...Messages);
  }
  return messages;
}

/** What the runbook's second step asks for. Never the body: it may be personal data. */
function describe(message: Message) {
  const parsed = parseEnvelope(message.Body ?? '');
  const envelope = parsed.ok ? parsed.envelope : undefined;
  return {
    messageId: message.MessageId,
    code: message.MessageAttributes?.FailureCode?.StringValue,
    reason: message.MessageAttributes?.FailureReason?.StringValue,
    messageType: envelope?.messageType,
    schemaVersion: envelope?.schemaVersion,
    idempotencyKey: envelope?.idempotencyKey,
    correlationId: envelope?.correlationId,
  };
}
