import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { Clock } from '../../lambdas/core/clock.ts';
import { failedItems } from './batch-response.ts';
import type { EventSource, EventSourceMapping } from './event-source-mapping.ts';
import { type InvokeOutcome, MAX_PAYLOAD_BYTES } from './lambda-invoker.ts';
import { type SqsEvent, type SqsRecord, sqsRecord } from './sqs-event.ts';
import { createWakeUp } from './wake-up.ts';

/** Concurrent invocations of a new mapping without a maximum of its own. */
const DEFAULT_CONCURRENCY = 5;
const LONG_POLL_SECONDS = 20;
const RECEIVE_LIMIT = 10;
/** How long polling rests after a call to the queue failed. */
const ERROR_PAUSE_MILLISECONDS = 1_000;

/** Tells when a receive may find something, so that nobody needs to poll for it. */
export interface QueueSignals {
  /** Calls back when a message may have become visible sooner than was known; returns how to stop. */
  onChange(listener: () => void): () => void;
  /** Epoch milliseconds; undefined when the queue is empty. */
  nextVisibleAt(): number | undefined;
}

export interface SqsEventSourceOptions {
  readonly clock: Clock;
  readonly client: SQSClient;
  readonly uuid: string;
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly functionName: string;
  readonly invoke: (event: SqsEvent) => Promise<InvokeOutcome>;
  /** 1–10,000; over 10 needs a batching window, and a FIFO queue takes at most 10. @default 10 */
  readonly batchSize?: number;
  /** Seconds to gather a batch, 0–300; standard queues only. @default 0 */
  readonly batchingWindowSeconds?: number;
  /** Most invocations at once, from 2 on. @default 5, where Lambda begins to scale from */
  readonly maxConcurrency?: number;
  /** @default true */
  readonly reportBatchItemFailures?: boolean;
  /** @default true */
  readonly enabled?: boolean;
  /** @default none: long polls of 20 seconds, which virtual time would have to step through */
  readonly signals?: QueueSignals;
  /** Told of failed calls to the queue; polling goes on a second later. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Polls a queue and invokes a function with batches, as Lambda's SQS event source mapping does: successes are
 * deleted, failures are left to their visibility timeout.
 *
 * @throws RangeError for settings that Lambda refuses.
 */
export function createSqsEventSource(options: SqsEventSourceOptions): EventSource & EventSourceMapping {
  const { clock, client, queueUrl, queueArn, signals } = options;
  const { batchSize = 10, batchingWindowSeconds = 0, reportBatchItemFailures = true } = options;
  checkSettings(options);
  let enabled = options.enabled ?? true;
  let maxConcurrency = options.maxConcurrency;
  let stopped = false;
  let active = 0;
  let polling = new AbortController();
  const bell = createWakeUp(clock);
  const stopListening = signals?.onChange(bell.ring);

  async function receive(
    max: number,
    signal: AbortSignal,
    waitSeconds = LONG_POLL_SECONDS,
  ): Promise<readonly Message[]> {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: Math.min(RECEIVE_LIMIT, max),
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
        WaitTimeSeconds: signals === undefined ? waitSeconds : 0,
      }),
      { abortSignal: signal },
    );
    return Messages;
  }

  /** A first receive's messages and, within the batching window, more of them. */
  async function gather(signal: AbortSignal): Promise<readonly Message[]> {
    const batch = [...(await receive(batchSize, signal))];
    const until = clock.now() + batchingWindowSeconds * 1_000;
    while (batch.length > 0 && batch.length < batchSize && clock.now() < until && !signal.aborted) {
      if (bodyBytes(batch) > MAX_PAYLOAD_BYTES) break;
      const seconds = Math.min(LONG_POLL_SECONDS, Math.ceil((until - clock.now()) / 1_000));
      const more = await receive(batchSize - batch.length, signal, seconds);
      batch.push(...more);
      if (more.length === 0) await bell.wait(Math.min(until, nextVisibleAt() ?? until));
    }
    return batch;
  }

  /** With long polls the service itself waits. */
  function nextVisibleAt(): number | undefined {
    return signals === undefined ? clock.now() : signals.nextVisibleAt();
  }

  async function runBatch(records: readonly SqsRecord[]): Promise<void> {
    const outcome = await options.invoke({ Records: [...records] });
    if (outcome.status !== 'succeeded') return;
    const ids = new Set(records.map(({ messageId }) => messageId));
    const failed = reportBatchItemFailures ? failedItems(outcome.payload, ids) : new Set<string>();
    if (failed === 'all') return;
    await remove(records.filter(({ messageId }) => !failed.has(messageId)));
  }

  async function remove(records: readonly SqsRecord[]): Promise<void> {
    for (let start = 0; start < records.length; start += RECEIVE_LIMIT) {
      const Entries = records
        .slice(start, start + RECEIVE_LIMIT)
        .map(({ receiptHandle }, index) => ({ Id: String(index), ReceiptHandle: receiptHandle }));
      await client.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    }
  }

  async function dispatch(messages: readonly Message[]): Promise<void> {
    active += 1;
    try {
      for (const records of splitBySize(messages.map((message) => sqsRecord(message, queueArn)))) {
        await runBatch(records);
      }
    } catch (error) {
      options.onError?.(error);
    }
    active -= 1;
    if (stopped || active === (maxConcurrency ?? DEFAULT_CONCURRENCY) - 1) bell.ring();
  }

  async function poll(): Promise<void> {
    while (!stopped) {
      if (!enabled || active >= (maxConcurrency ?? DEFAULT_CONCURRENCY)) {
        await bell.wait();
        continue;
      }
      const { signal } = polling;
      try {
        const messages = await gather(signal);
        if (messages.length > 0) void dispatch(messages);
        else await bell.wait(nextVisibleAt());
      } catch (error) {
        if (signal.aborted) continue;
        options.onError?.(error);
        await bell.wait(clock.now() + ERROR_PAUSE_MILLISECONDS);
      }
    }
    while (active > 0) await bell.wait();
  }

  function interruptPolling(): void {
    polling.abort();
    polling = new AbortController();
    bell.ring();
  }

  const polled = poll();
  return {
    uuid: options.uuid,
    eventSourceArn: queueArn,
    functionName: options.functionName,
    settings: () => ({
      enabled,
      batchSize,
      batchingWindowSeconds,
      reportBatchItemFailures,
      ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
    }),
    setEnabled(value) {
      if (enabled === value) return;
      enabled = value;
      if (value) bell.ring();
      else interruptPolling();
    },
    setMaxConcurrency(value) {
      checkConcurrency(value);
      maxConcurrency = value;
      bell.ring();
    },
    async stop() {
      stopped = true;
      stopListening?.();
      interruptPolling();
      await polled;
    },
  };
}

function checkConcurrency(value: number): void {
  if (!Number.isInteger(value) || value < 2 || value > 1_000) {
    throw new RangeError(`maxConcurrency is ${value}; it must be a whole number from 2 to 1000`);
  }
}

function checkSettings(options: SqsEventSourceOptions): void {
  const { batchSize = 10, batchingWindowSeconds = 0, maxConcurrency, queueArn } = options;
  const fifo = queueArn.endsWith('.fifo');
  if (maxConcurrency !== undefined) checkConcurrency(maxConcurrency);
  if (!Number.isInteger(batchSize) || batchSize < 1 || batchSize > (fifo ? 10 : 10_000)) {
    throw new RangeError(
      `batchSize is ${batchSize}; it must be from 1 to ${fifo ? '10 on a FIFO queue' : 10_000}`,
    );
  }
  if (batchingWindowSeconds < 0 || batchingWindowSeconds > 300) {
    throw new RangeError(`batchingWindowSeconds is ${batchingWindowSeconds}; it must be from 0 to 300`);
  }
  if (fifo && batchingWindowSeconds > 0) {
    throw new RangeError('a FIFO queue has no batching window: leave batchingWindowSeconds out');
  }
  if (batchSize > 10 && batchingWindowSeconds < 1) {
    throw new RangeError(`a batchSize of ${batchSize} needs a batchingWindowSeconds of at least 1`);
  }
}

/** What `JSON.stringify` can make of a character at most, and what a record adds besides its body. */
const BYTES_PER_CHARACTER = 6;
const RECORD_BYTES = 4_096;

function bodyBytes(batch: readonly Message[]): number {
  return batch.reduce((sum, { Body = '' }) => sum + Buffer.byteLength(Body), 0);
}

/** Batches that fit into one event; the messages of one receive can be too large together. */
function splitBySize(records: readonly SqsRecord[]): readonly (readonly SqsRecord[])[] {
  const most = records.reduce((sum, { body }) => sum + BYTES_PER_CHARACTER * body.length + RECORD_BYTES, 0);
  const withoutAttributes = records.every(({ md5OfMessageAttributes: digest }) => digest === undefined);
  if (withoutAttributes && most <= MAX_PAYLOAD_BYTES) return [records];
  const batches: SqsRecord[][] = [];
  let room = 0;
  for (const record of records) {
    const bytes = Buffer.byteLength(JSON.stringify(record)) + 1;
    const last = batches.at(-1);
    if (last === undefined || bytes > room) {
      batches.push([record]);
      room = MAX_PAYLOAD_BYTES - '{"Records":[]}'.length - bytes;
    } else {
      last.push(record);
      room -= bytes;
    }
  }
  return batches;
}
