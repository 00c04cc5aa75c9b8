import { fullJitterSeconds } from '../core/backoff.ts';
import type { Random } from '../core/clock.ts';
import type { Envelope } from '../core/envelope.ts';
import { errorName, FAILURE_CODES } from '../core/errors.ts';
import type { Manifest, TypeManifest } from '../core/manifest.ts';
import { sealIdentity } from '../core/seal.ts';
import type { Source } from '../core/sources.ts';
import type { LogFields, Telemetry } from '../core/telemetry.ts';
import { type QueueRecord, type Rejection, readRecord } from './record.ts';
import { Saturated, type StartDeps, startMessage } from './start.ts';

/** Where a message that cannot be started is kept. */
export interface RejectedStore {
  /** Keeps the message, durably, with the reason. Only then is it acknowledged. */
  keep(record: QueueRecord, rejection: Rejection): Promise<void>;
}

export interface StarterDeps extends StartDeps {
  readonly random: Random;
  readonly manifest: Manifest;
  readonly sources: readonly Source[];
  readonly rejected: RejectedStore;
  /** An invalid message is kept on this receive; before that it goes back to the queue. From 1. */
  readonly invalidReceives: number;
  /** How long an execution may live, less a margin: a later `notBefore` is refused. */
  readonly maxDeferSeconds: number;
  /** Hides a message for that long instead of the queue's visibility time-out. */
  readonly backOff: (record: QueueRecord, seconds: number) => Promise<void>;
  /** Told of a batch of which not a single message could be started, for the circuit breaker. */
  readonly reportFailedBatch: () => Promise<void>;
  readonly telemetry: Telemetry;
}

/** Time that must be left to take up another record: the inbox row and the start, each at its client's time-out. */
export const MIN_REMAINING_MILLIS = 10_000;

/** Back-off of a record that could not be started: throttled, timed out, or an unknown error. */
const START_BACKOFF = { baseSeconds: 2, capSeconds: 300 };
/** An invalid record may become valid with a deploy, so that it is looked at again soon. */
const INVALID_BACKOFF = { baseSeconds: 1, capSeconds: 30 };
/** Overload lasts: nothing comes back before the floor. */
const OVERLOAD_BACKOFF = { baseSeconds: 30, capSeconds: 60, floorSeconds: 30 };

/** Not done with a record: the queue keeps it. */
class NotStarted extends Error {
  override readonly name = 'NotStarted';
}

/** The message is fine, but what it takes to start it is not. */
class StartFailed extends Error {
  override readonly name = 'StartFailed';
}

/**
 * Takes up a batch: records side by side, those of one FIFO group one after the other. Each promise of the result,
 * in the order of the records, is fulfilled when its record's outcome is durable, and rejected when the queue is to
 * keep it. No record's failure touches another, save that a FIFO group stops at its first one.
 */
export async function startBatch(
  records: readonly QueueRecord[],
  remainingMillis: () => number,
  deps: StarterDeps,
): Promise<PromiseSettledResult<void>[]> {
  // Only as many records are taken up as there is room for: the others cost no write.
  const room = await deps.inFlight.room();
  const groups = new Map<string, Promise<void>>();
  const results = await Promise.allSettled(
    records.map((record, index) => {
      const take = async () => {
        if (index >= room) return refuse(record, deps);
        if (remainingMillis() < MIN_REMAINING_MILLIS) throw new NotStarted('too little time is left');
        await takeUp(record, deps);
      };
      if (record.groupId === undefined || !record.queueArn.endsWith('.fifo')) return take();
      const turn = (groups.get(record.groupId) ?? Promise.resolve()).then(take);
      groups.set(record.groupId, turn);
      return turn;
    }),
  );
  const failed = results.some(
    (result) => result.status === 'rejected' && result.reason instanceof StartFailed,
  );
  if (failed && results.every(({ status }) => status === 'rejected')) await report(deps);
  return results;
}

/** The report is for the operator's and the breaker's good: the batch's outcome stands without it. */
async function report(deps: StarterDeps): Promise<void> {
  try {
    await deps.reportFailedBatch();
  } catch (error) {
    deps.telemetry.warn('failed_batch_not_reported', { code: errorName(error) });
  }
}

async function takeUp(record: QueueRecord, deps: StarterDeps): Promise<void> {
  const read = readRecord(record, {
    manifest: deps.manifest,
    sources: deps.sources,
    latestNotBefore: deps.clock.now() + deps.maxDeferSeconds * 1000,
  });
  if (!read.ok) return reject(record, read.rejection, fieldsOf(record, read.read), deps);
  const { envelope, type } = read;
  const fields = fieldsOf(record, read);
  let started: Awaited<ReturnType<typeof startMessage>>;
  try {
    started = await startMessage(envelope, type, deps);
  } catch (error) {
    if (error instanceof Saturated) return refuse(record, deps);
    const code = errorName(error);
    deps.telemetry.warn('message_not_started', { ...fields, result: 'RETURNED_TO_QUEUE', code });
    deps.telemetry.metric('StartsThrottled', 1);
    await hide(record, fullJitterSeconds(record.receiveCount, deps.random, START_BACKOFF), deps);
    throw new StartFailed('the message could not be started', { cause: error });
  }
  deps.telemetry.metric('ReceiveCount', record.receiveCount);
  if (started.result === 'REJECTED') return reject(record, started.rejection, fields, deps);
  if (started.result === 'STARTED') deps.telemetry.metric('MessagesStarted', 1);
  else deps.telemetry.metric('DuplicatesDropped', 1, { kind: started.result });
  deps.telemetry.info('message_started', {
    ...fields,
    executionName: started.executionName,
    result: started.result,
  });
}

/** What a log line may say of a record. */
function fieldsOf(
  { receiveCount }: QueueRecord,
  read: { readonly envelope: Envelope; readonly type: TypeManifest } | undefined,
): LogFields {
  if (read === undefined) return { receiveCount };
  const { envelope, type } = read;
  const shown = type.data === 'reference' ? sealIdentity(envelope) : envelope;
  return {
    messageType: shown.messageType,
    idempotencyKey: type.executionNames === 'digest' ? undefined : shown.idempotencyKey,
    aggregateId: type.executionNames === 'digest' ? undefined : shown.aggregateId,
    tenantId: shown.tenantId,
    correlationId: shown.correlationId,
    traceparent: shown.traceparent,
    receiveCount,
  };
}

/** Too much is in flight: the message comes back when there may be room. */
async function refuse(record: QueueRecord, deps: StarterDeps): Promise<never> {
  await hide(record, fullJitterSeconds(1, deps.random, OVERLOAD_BACKOFF), deps);
  throw new NotStarted('too much is in flight');
}

async function reject(
  record: QueueRecord,
  rejection: Rejection,
  fields: LogFields,
  deps: StarterDeps,
): Promise<void> {
  const mismatch = rejection.code === FAILURE_CODES.IDEMPOTENCY_HASH_MISMATCH;
  deps.telemetry.metric(mismatch ? 'HashMismatches' : 'InvalidMessages', 1);
  if (record.receiveCount < deps.invalidReceives) {
    deps.telemetry.warn('message_rejected', { ...fields, result: 'RETURNED_TO_QUEUE', code: rejection.code });
    await hide(record, fullJitterSeconds(record.receiveCount, deps.random, INVALID_BACKOFF), deps);
    throw new NotStarted(rejection.code);
  }
  await deps.rejected.keep(record, rejection);
  deps.telemetry.warn('message_rejected', { ...fields, result: 'KEPT', code: rejection.code });
}

/** Only speeds the message's return up or slows it down: without it the queue's visibility time-out applies. */
async function hide(record: QueueRecord, seconds: number, deps: StarterDeps): Promise<void> {
  try {
    await deps.backOff(record, seconds);
  } catch (error) {
    deps.telemetry.warn('visibility_not_changed', { code: errorName(error) });
  }
}
