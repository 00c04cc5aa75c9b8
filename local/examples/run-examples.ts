import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { fromItem, toItem } from '../../lambdas/aws/items.ts';
import type { Clock } from '../../lambdas/core/clock.ts';
import { parseEnvelope } from '../../lambdas/core/envelope.ts';
import type { Row } from '../../lambdas/core/ports.ts';
import { sealedKey } from '../../lambdas/core/seal.ts';
import { effectRowKey, type ItemKey, inboxKey } from '../../lambdas/core/table.ts';
import type { LocalProviders } from '../providers/start-providers.ts';
import type { LocalRuntime } from '../runtime.ts';
import { EXAMPLES, type Example, type ExampleResult, exampleBody, exampleObject } from './examples.ts';
import { EXERCISE_QUEUE } from './exercise.ts';
import type { Journal } from './journal.ts';

/** What became of an example. */
export interface ExampleOutcome {
  readonly example: Example;
  /** Undefined when it came to nothing in time. */
  readonly result: ExampleResult | undefined;
  readonly why: string;
  /** Milliseconds from sending to the outcome. */
  readonly milliseconds: number;
}

export interface RunExamplesOptions {
  readonly runtime: LocalRuntime;
  readonly clock: Clock;
  /** Where the runtime's providers call. */
  readonly providers: LocalProviders;
  /** Log lines of the worker's queue, and of the exercise's. */
  readonly journals: { readonly main: Journal; readonly exercise: Journal };
  /** Told of each outcome as it is known. */
  readonly onOutcome?: (outcome: ExampleOutcome) => void;
  readonly signal?: AbortSignal;
}

const POLL_MILLIS = 50;
/** The slowest example fails three times with back-offs of seconds; ten times that is a fault. */
const PATIENCE_MILLIS = 60_000;

interface Outcome {
  readonly result: ExampleResult;
  readonly why: string;
}

interface Sent {
  readonly body: string;
  readonly dlqUrl: string;
  readonly sentAt: number;
}

/** Sends the examples and follows each to its outcome; the first before the others, which build on it. */
export async function runExamples(options: RunExamplesOptions): Promise<readonly ExampleOutcome[]> {
  const [first, ...others] = EXAMPLES;
  if (first === undefined) return [];
  const done = await sendAndFollow(first, options);
  return [done, ...(await Promise.all(others.map((example) => sendAndFollow(example, options))))];
}

async function sendAndFollow(example: Example, options: RunExamplesOptions): Promise<ExampleOutcome> {
  const { runtime, clock, signal } = options;
  const body = exampleBody(example);
  const [exercise] = runtime.inputs;
  const queueUrl = example.queue === 'main' ? runtime.names.queueUrl : exercise?.queueUrl;
  const dlqUrl = example.queue === 'main' ? runtime.names.dlqUrl : exercise?.dlqUrl;
  if (queueUrl === undefined || dlqUrl === undefined) throw new Error('the exercise has no queue');
  await prepare(example, body, options);
  const sentAt = clock.now();
  await runtime.clients.sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: body }));
  for (;;) {
    const outcome = await outcomeOf(example, { body, dlqUrl, sentAt }, options);
    const milliseconds = clock.now() - sentAt;
    if (outcome !== undefined || milliseconds > PATIENCE_MILLIS) {
      const known = {
        example,
        milliseconds,
        result: outcome?.result,
        why: outcome?.why ?? 'nothing, in a minute',
      };
      options.onOutcome?.(known);
      return known;
    }
    await clock.sleep(POLL_MILLIS, signal);
  }
}

async function outcomeOf(
  example: Example,
  sent: Sent,
  options: RunExamplesOptions,
): Promise<Outcome | undefined> {
  if (example.expects === 'DEAD LETTER') return deadLetter(example, sent, options);
  const parsed = parseEnvelope(sent.body);
  if (!parsed.ok) return undefined;
  const key = parsed.envelope.idempotencyKey;
  if (example.expects === 'DUPLICATE') return duplicate(key, options.journals.main);
  if (example.expects === 'IN DOUBT') return inDoubt(example, key, options);
  return finished(example, key, options);
}

/** What has to be there before the message is sent. */
async function prepare(
  example: Example,
  body: string,
  { runtime, providers }: RunExamplesOptions,
): Promise<void> {
  const parsed = parseEnvelope(body);
  if (!parsed.ok) return;
  const { idempotencyKey, payloadRef } = parsed.envelope;
  if (example.object !== undefined && payloadRef !== undefined) {
    const { bucket, key } = payloadRef;
    await runtime.clients.s3.send(
      new PutObjectCommand({ Bucket: bucket, Key: key, Body: exampleObject(example.object) }),
    );
  }
  // What an older run has done, kept in a data directory, is not called again: the fault would meet another message.
  const known = await readInbox(idempotencyKey, runtime);
  if (known === undefined) example.effect?.loseAnswer?.(providers);
}

/** A type that keeps its data out of histories has its key known by a digest. */
async function readInbox(key: string, runtime: LocalRuntime): Promise<Row | undefined> {
  const { workerName } = runtime.names;
  return (
    (await readRow(inboxKey(key, workerName), runtime)) ??
    (await readRow(inboxKey(sealedKey(key), workerName), runtime))
  );
}

async function readRow(key: ItemKey, runtime: LocalRuntime): Promise<Row | undefined> {
  const { Item } = await runtime.clients.dynamodb.send(
    new GetItemCommand({ TableName: runtime.names.tableName, Key: toItem({ ...key }), ConsistentRead: true }),
  );
  return Item === undefined ? undefined : fromItem(Item);
}

async function finished(
  example: Example,
  key: string,
  { runtime, providers }: RunExamplesOptions,
): Promise<Outcome | undefined> {
  const row = (await readInbox(key, runtime)) ?? {};
  if (row.status === 'COMPLETED' && row.outcome === 'SUPERSEDED') {
    return { result: 'SUPERSEDED', why: 'a newer version is applied; only the inbox row was written' };
  }
  if (row.status === 'COMPLETED') {
    const seen = example.effect?.seen(providers);
    // None at all: an older run, kept in a data directory, has done it.
    if (seen === undefined || seen.calls === 0) {
      return { result: 'COMPLETED', why: `committed once: ${row.resultRef}` };
    }
    const done = seen.done === 1 ? 'once' : `${seen.done} times`;
    const calls = seen.calls === 1 ? '1 call' : `${seen.calls} calls`;
    return {
      result: seen.done > 1 ? 'DONE TWICE' : 'COMPLETED',
      why: `done ${done} in ${calls}: ${row.resultRef}`,
    };
  }
  if (row.status === 'FAILED_TERMINAL') {
    return {
      result: 'QUARANTINED',
      why: `${row.failureReason} after ${row.attempts} attempts; code ${row.failureCode}`,
    };
  }
  return undefined;
}

/** An effect in doubt, with what a person would type who has found it in the provider's books. */
async function inDoubt(
  example: Example,
  key: string,
  { runtime, providers }: RunExamplesOptions,
): Promise<Outcome | undefined> {
  const effect = `${key}#${example.effect?.name}`;
  const row = (await readRow(effectRowKey(effect), runtime)) ?? {};
  if (row.status === 'IN_DOUBT') {
    const reference = providers.notices.ledger[0]?.noticeId ?? 'REFERENCE';
    const command = `npx stepwell effects resolve ${effect} --completed --reference ${reference}`;
    return { result: 'IN DOUBT', why: command };
  }
  return row.resolvedAt === undefined
    ? undefined
    : { result: 'IN DOUBT', why: `and resolved by a person since then: ${row.status}` };
}

function duplicate(key: string, journal: Journal): Outcome | undefined {
  const line = journal.entries.find(
    ({ fields }) => fields.idempotencyKey === key && fields.result?.startsWith('DUPLICATE'),
  );
  return line === undefined
    ? undefined
    : { result: 'DUPLICATE', why: 'known and completed: acknowledged, nothing done' };
}

async function deadLetter(
  example: Example,
  { body, dlqUrl, sentAt }: Sent,
  { runtime, journals }: RunExamplesOptions,
): Promise<Outcome | undefined> {
  // Hidden for a moment only, so that the next look finds others and everybody soon finds all.
  const { Messages = [] } = await runtime.clients.sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: dlqUrl,
      MaxNumberOfMessages: 10,
      VisibilityTimeout: 1,
      WaitTimeSeconds: 0,
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['SentTimestamp'],
    }),
  );
  // An older run's letter, kept in a data directory, is not this message.
  const found = Messages.find(
    (message) => message.Body === body && Number(message.Attributes?.SentTimestamp) >= sentAt,
  );
  if (found === undefined) return undefined;
  const code = found.MessageAttributes?.FailureCode?.StringValue;
  if (code !== undefined) return { result: 'DEAD LETTER', why: code };
  const receives = journals[example.queue].entries.reduce(
    (most, { message, fields }) =>
      message === 'message_rejected' ? Math.max(most, fields.receiveCount ?? 0) : most,
    0,
  );
  return {
    result: 'DEAD LETTER',
    why: `not an envelope; moved by SQS after ${receives} receives (maxReceiveCount ${EXERCISE_QUEUE.maxReceiveCount})`,
  };
}
