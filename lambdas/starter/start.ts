import type { Clock } from '../core/clock.ts';
import type { Envelope, PayloadRef } from '../core/envelope.ts';
import { FAILURE_CODES } from '../core/errors.ts';
import type { ExecutionInput } from '../core/execution.ts';
import { executionName, type RequestHash, requestHash } from '../core/identity.ts';
import { classifyDelivery, type KnownWork, type NewWork } from '../core/inbox.ts';
import type { TypeManifest } from '../core/manifest.ts';
import { resolvePolicy } from '../core/policy.ts';
import { asideFolder, sealIdentity, sealPolicy } from '../core/seal.ts';
import { aggregateKey, skipKey } from '../core/table.ts';
import type { Rejection } from './record.ts';

/** An execution takes 262,144 bytes of input; what is above this leaves no room for the plan beside it. */
const MAX_INLINE_INPUT_BYTES = 200 * 1024;
/** Quarantine carries the input as text inside JSON, where each quote and backslash takes a byte more. */
const MAX_QUOTED_INPUT_BYTES = 240 * 1024;

/** The inbox, as the starter uses it. */
export interface StarterInbox {
  /**
   * Puts the row of new work unless the key is known.
   * @returns undefined for new work, or the row that was there
   */
  admit(work: NewWork): Promise<{ readonly known?: KnownWork; readonly arrival?: number }>;
  /** Counts another delivery of known work; nothing when its row is gone. */
  countDelivery(idempotencyKey: string, at: string): Promise<void>;
  /** Keeps the second request under a known key beside the first, which is not touched. */
  recordConflict(envelope: Envelope, hash: RequestHash, at: string): Promise<void>;
}

/** The in-flight limit, as the starter uses it. */
export interface InFlightLimit {
  /** How many more executions may start now. */
  room(): Promise<number>;
  /** Takes a place for the key; false when there is none. A key that has one keeps it. */
  take(idempotencyKey: string): Promise<boolean>;
  /** Releases the keys whose work has ended. */
  releaseFinal(idempotencyKeys: readonly string[]): Promise<unknown>;
}

/** Of a worker without a limit. */
export const UNLIMITED: InFlightLimit = {
  room: async () => Number.POSITIVE_INFINITY,
  take: async () => true,
  releaseFinal: async () => {},
};

/** As much is in flight as may be: the message goes back to the queue. */
export class Saturated extends Error {
  override readonly name = 'Saturated';
}

export interface StartDeps {
  readonly inFlight: InFlightLimit;
  readonly clock: Clock;
  readonly worker: string;
  readonly inbox: StarterInbox;
  /** `exists`: an execution of that name is there, running with other input or closed. Both are success. */
  readonly startExecution: (name: string, input: string) => Promise<'started' | 'exists'>;
  /** Puts a payload that is too large for an execution's input aside, under its own digest. */
  readonly offload: (folder: string, bytes: Uint8Array) => Promise<PayloadRef>;
}

export type StartResult =
  | { readonly result: 'STARTED'; readonly executionName: string }
  | {
      readonly result: 'DUPLICATE_RUNNING' | 'DUPLICATE_COMPLETED' | 'DUPLICATE_TERMINAL';
      readonly executionName: string;
    }
  | { readonly result: 'REJECTED'; readonly rejection: Rejection };

/**
 * Makes one valid message an execution: first the inbox row, which tells new work, a duplicate and a conflict apart
 * in one write, then StartExecution. A crash between the two is mended by the redelivery, which starts it again.
 *
 * Throws what the clients throw; the record is then not acknowledged.
 */
export async function startMessage(
  envelope: Envelope,
  type: TypeManifest,
  deps: StartDeps,
): Promise<StartResult> {
  const hash = requestHash(envelope);
  const at = new Date(deps.clock.now()).toISOString();
  // What may hold personal data is known by its digest from here on.
  const shown = type.data === 'reference' ? sealIdentity(envelope) : envelope;
  const name = executionName(shown.idempotencyKey, { style: type.executionNames });
  const admitted = await deps.inbox.admit({
    envelope,
    type,
    worker: deps.worker,
    requestHash: hash,
    executionName: name,
    receivedAt: at,
  });
  const { known } = admitted;
  switch (classifyDelivery(known, hash)) {
    case 'conflict':
      await deps.inbox.recordConflict(shown, hash, at);
      return {
        result: 'REJECTED',
        rejection: {
          code: FAILURE_CODES.IDEMPOTENCY_HASH_MISMATCH,
          reason: `$.idempotencyKey: belongs to another request (hash ${known?.requestHash}, this one ${hash})`,
        },
      };
    case 'duplicateCompleted':
      return { result: 'DUPLICATE_COMPLETED', executionName: known?.executionName ?? name };
    case 'duplicateTerminal':
      return { result: 'DUPLICATE_TERMINAL', executionName: known?.executionName ?? name };
    case 'inProgress':
      await deps.inbox.countDelivery(shown.idempotencyKey, at);
      break;
    case 'new':
      break;
  }
  const { notBefore } = resolvePolicy(type.attempts, envelope.attemptPolicy);
  const deferred = notBefore !== undefined && Date.parse(notBefore) > deps.clock.now();
  if (!deferred && !(await deps.inFlight.take(shown.idempotencyKey))) {
    throw new Saturated('as many executions are in flight as may be');
  }
  const input = await executionInput(envelope, type, hash, known?.arrival ?? admitted.arrival, deps);
  const target = known?.executionName ?? name;
  const started = await deps.startExecution(target, input);
  // The first delivery's execution may have ended since the row was read: nobody would release this place then.
  if (known !== undefined || started === 'exists') await deps.inFlight.releaseFinal([shown.idempotencyKey]);
  const duplicate = known !== undefined && started === 'exists';
  return { result: duplicate ? 'DUPLICATE_RUNNING' : 'STARTED', executionName: target };
}

const isTooLarge = (text: string): boolean =>
  Buffer.byteLength(text) > MAX_INLINE_INPUT_BYTES ||
  Buffer.byteLength(JSON.stringify(text)) > MAX_QUOTED_INPUT_BYTES;

async function executionInput(
  envelope: Envelope,
  type: TypeManifest,
  hash: RequestHash,
  arrival: number | undefined,
  deps: StartDeps,
): Promise<string> {
  const version = type.ordering === 'arrival' ? arrival : envelope.aggregateVersion;
  const shown = type.data === 'reference' ? sealIdentity(envelope) : envelope;
  const input: ExecutionInput = {
    envelope,
    requestHash: hash,
    policy: resolvePolicy(type.attempts, envelope.attemptPolicy),
    ...(arrival === undefined ? {} : { arrival }),
    ...(type.onPredecessorFailure === 'skip' && version !== undefined
      ? {
          skip: {
            ...skipKey(aggregateKey(shown.aggregateType, shown.aggregateId), type.stream, version),
            stream: type.stream,
            version,
          },
        }
      : {}),
  };
  const folder = asideFolder(envelope.idempotencyKey);
  if (type.data === 'reference') {
    const payloadRef = await deps.offload(folder, Buffer.from(JSON.stringify(envelope)));
    return JSON.stringify({
      ...input,
      policy: sealPolicy(input.policy),
      envelope: { ...shown, payloadRef },
      sealed: true,
    } satisfies ExecutionInput);
  }
  const text = JSON.stringify(input);
  const { payload, ...rest } = envelope;
  if (payload === undefined || !isTooLarge(text)) return text;
  const payloadRef = await deps.offload(folder, Buffer.from(JSON.stringify(payload)));
  return JSON.stringify({
    ...input,
    envelope: { ...rest, payloadRef },
    offloaded: true,
  } satisfies ExecutionInput);
}
