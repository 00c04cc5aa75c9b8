import type { Clock } from '../../lambdas/core/clock.ts';
import type { JsonValue } from '../../lambdas/core/json.ts';
import { failedItems } from './batch-response.ts';
import type { EventSource } from './event-source-mapping.ts';
import { functionArn, type InvokeOutcome } from './lambda-invoker.ts';
import { createStreamFilter, type FilterPattern } from './stream-filter.ts';
import { createWakeUp } from './wake-up.ts';

const MAX_RETRY_PAUSE_MILLISECONDS = 60_000;
const LEAST_READ = 1_000;

/** The part of a DynamoDB stream record that is read here; the function gets the whole record. */
export interface StreamRecordLike {
  readonly eventSourceARN: string;
  readonly dynamodb: { readonly SequenceNumber: string; readonly ApproximateCreationDateTime: number };
}

/** A table's change stream, as one shard. */
export interface StreamReader<R extends StreamRecordLike> {
  /** Records after a sequence number, oldest first; from the oldest kept without one. */
  read(afterSequenceNumber: string | undefined, limit: number): readonly R[];
  /** Calls back after each write; returns how to stop. */
  onChange(listener: () => void): () => void;
}

/** What becomes of a batch before it is invoked with. */
export type DeliveryFault = 'none' | 'twice' | { readonly delayMilliseconds: number };

export interface StreamEventSourceOptions<R extends StreamRecordLike> {
  readonly clock: Clock;
  readonly reader: StreamReader<R>;
  readonly functionName: string;
  readonly invoke: (event: { Records: R[] }) => Promise<InvokeOutcome>;
  /** A record goes to the function when it matches any of these. @default all go */
  readonly filters?: readonly FilterPattern[];
  /** @default 100 */
  readonly batchSize?: number;
  /** Tries the halves of a failed batch by themselves. @default false */
  readonly bisectBatchOnFunctionError?: boolean;
  /** -1 retries for as long as it takes. @default -1 */
  readonly maximumRetryAttempts?: number;
  /** A failed response names the record to go on from. @default false */
  readonly reportBatchItemFailures?: boolean;
  /** Gets the message about records that were given up. @default they are skipped silently */
  readonly onFailure?: (message: JsonValue) => Promise<void>;
  /** Records up to this sequence number were handled before, e.g. before a restart. @default none */
  readonly startAfter?: string;
  /** For tests: what happens to a batch. @default 'none' */
  readonly deliver?: (records: readonly R[]) => DeliveryFault;
  /** Told of failures of the source itself; it goes on a second later. */
  readonly onError?: (error: unknown) => void;
}

/** A running stream consumer. */
export interface StreamEventSource extends EventSource {
  /** Pauses and resumes between batches. */
  setEnabled(enabled: boolean): void;
  /** Takes these patterns from the next batch on. */
  setFilters(filters: readonly FilterPattern[]): void;
  /** Everything up to here was handled; undefined before the first record. */
  position(): string | undefined;
}

/**
 * Feeds a table's changes to a function in order, as Lambda's DynamoDB event source mapping does with one
 * shard: a failed batch is retried, and blocks what comes after it, until it succeeds or is given up.
 */
export function createStreamEventSource<R extends StreamRecordLike>(
  options: StreamEventSourceOptions<R>,
): StreamEventSource {
  const { clock, reader, batchSize = 100, maximumRetryAttempts = -1 } = options;
  const { bisectBatchOnFunctionError = false, reportBatchItemFailures = false } = options;
  let passes = createStreamFilter(options.filters);
  const bell = createWakeUp(clock);
  const stopListening = reader.onChange(bell.ring);
  let position = options.startAfter;
  let enabled = true;
  const stopping = new AbortController();

  /** Waits, but not beyond a stop. */
  async function pause(milliseconds: number): Promise<void> {
    await clock.sleep(milliseconds, stopping.signal).catch(() => {});
  }

  /** Handles one batch to its end; the position is what it got to when it is interrupted. */
  async function handle(batch: readonly R[]): Promise<void> {
    let rest = batch;
    for (let attempt = 0; rest.length > 0 && !stopping.signal.aborted; ) {
      const failedFrom = await attemptOnce(rest);
      if (failedFrom === undefined) return;
      const progressed = failedFrom > 0;
      rest = rest.slice(failedFrom);
      position = sequenceBefore(batch, rest) ?? position;
      if (bisectBatchOnFunctionError && rest.length > 1) {
        const middle = Math.ceil(rest.length / 2);
        await handle(rest.slice(0, middle));
        await handle(rest.slice(middle));
        return;
      }
      attempt = progressed ? 1 : attempt + 1;
      if (maximumRetryAttempts >= 0 && attempt > maximumRetryAttempts) {
        await options.onFailure?.(failureMessage(rest, attempt));
        return;
      }
      await pause(Math.min(MAX_RETRY_PAUSE_MILLISECONDS, 1_000 * 2 ** (attempt - 1)));
    }
  }

  /** The index of the first record that failed; undefined when all went well. */
  async function attemptOnce(batch: readonly R[]): Promise<number | undefined> {
    const fault = options.deliver?.(batch) ?? 'none';
    if (typeof fault === 'object') await pause(fault.delayMilliseconds);
    if (fault === 'twice') await options.invoke({ Records: [...batch] });
    const outcome = await options.invoke({ Records: [...batch] });
    if (outcome.status !== 'succeeded') return 0;
    if (!reportBatchItemFailures) return undefined;
    const numbers = batch.map(({ dynamodb }) => dynamodb.SequenceNumber);
    const failed = failedItems(outcome.payload, new Set(numbers));
    if (failed === 'all') return 0;
    const first = numbers.findIndex((number) => failed.has(number));
    return first < 0 ? undefined : first;
  }

  function failureMessage(batch: readonly R[], attempts: number): JsonValue {
    const [first, last] = [batch[0], batch.at(-1)];
    const arrival = (record: R | undefined) =>
      new Date(1_000 * (record?.dynamodb.ApproximateCreationDateTime ?? 0)).toISOString();
    return {
      requestContext: {
        functionArn: functionArn(options.functionName),
        condition: 'RetryAttemptsExhausted',
        approximateInvokeCount: attempts,
      },
      responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
      version: '1.0',
      timestamp: new Date(clock.now()).toISOString(),
      DDBStreamBatchInfo: {
        shardId: 'shardId-local',
        startSequenceNumber: first?.dynamodb.SequenceNumber ?? '',
        endSequenceNumber: last?.dynamodb.SequenceNumber ?? '',
        approximateArrivalOfFirstRecord: arrival(first),
        approximateArrivalOfLastRecord: arrival(last),
        batchSize: batch.length,
        streamArn: first?.eventSourceARN ?? '',
      },
    };
  }

  /** Reads on from the position; true when there was something. */
  async function step(): Promise<boolean> {
    const records = reader.read(position, Math.max(batchSize, LEAST_READ));
    const matching = records.filter(passes);
    for (let start = 0; start < matching.length && enabled && !stopping.signal.aborted; start += batchSize) {
      const batch = matching.slice(start, start + batchSize);
      await handle(batch);
      if (!stopping.signal.aborted) position = batch.at(-1)?.dynamodb.SequenceNumber ?? position;
    }
    const done = enabled && !stopping.signal.aborted;
    if (done) position = records.at(-1)?.dynamodb.SequenceNumber ?? position;
    return records.length > 0;
  }

  async function consume(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        if (!enabled || !(await step())) await bell.wait();
      } catch (error) {
        options.onError?.(error);
        await bell.wait(clock.now() + 1_000);
      }
    }
  }

  const consumed = consume();
  return {
    position: () => position,
    setEnabled(value) {
      enabled = value;
      bell.ring();
    },
    setFilters(filters) {
      passes = createStreamFilter(filters);
    },
    async stop() {
      stopping.abort();
      stopListening();
      bell.ring();
      await consumed;
    },
  };
}

/** The sequence number of the record before `rest` within `batch`. */
function sequenceBefore<R extends StreamRecordLike>(
  batch: readonly R[],
  rest: readonly R[],
): string | undefined {
  return batch[batch.length - rest.length - 1]?.dynamodb.SequenceNumber;
}
