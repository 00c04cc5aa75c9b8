import type { Envelope } from './envelope.ts';

/** How often and how far apart a failed piece of work is tried. */
export interface AttemptPolicy {
  /** Business attempts between two replays. Receives, Lambda faults and contention are none. */
  readonly maxBusinessAttempts: number;
  /** Back-off before attempt n+1: random × min(capSeconds, baseSeconds × 2^(n−1)). */
  readonly baseSeconds: number;
  readonly capSeconds: number;
  readonly notBefore?: string;
  readonly retryableUntil?: string;
  readonly terminalAfterCodes: readonly string[];
}

/** Attempt policy where neither the type nor the envelope says otherwise. */
export const DEFAULT_ATTEMPTS = { maxBusinessAttempts: 5, baseSeconds: 2, capSeconds: 300 } as const;

/**
 * Input of an execution: nothing of the delivery, so that a redelivery while it runs gets StartExecution's
 * idempotent answer.
 */
export interface ExecutionInput {
  readonly envelope: Envelope;
  /** Hash of the message as it was received, before an arrival number was given or a payload was offloaded. */
  readonly requestHash: string;
  readonly policy: AttemptPolicy;
  /** The payload lies aside because of its size or kind: read as JSON whatever the type says of its references. */
  readonly offloaded?: true;
  /**
   * The envelope's texts are digests, and the message as it was sent lies aside, under the envelope's `payloadRef`:
   * the type's data is kept out of histories.
   */
  readonly sealed?: true;
  /** The aggregate's arrival number, for types with ordering `arrival`. */
  readonly arrival?: number;
  /** The marker that Quarantine writes for types with `onPredecessorFailure: 'skip'`. */
  readonly skip?: {
    readonly PK: string;
    readonly SK: string;
    readonly stream: string;
    readonly version: number;
  };
}

/** What Step Functions' context object says of the execution; passed to Plan as it stands. */
export interface ExecutionContext {
  /** The execution's ARN. */
  readonly Id: string;
  readonly Name: string;
  readonly Input: ExecutionInput;
  readonly StartTime: string;
  readonly RedriveCount: number;
  readonly RedriveTime?: string;
}

/** A failure on its way to the inbox row, the quarantine and the execution's error. */
export interface FailureRecord {
  /** `unknown`: an exception of no known kind, i.e. a bug; retried under the same budget. */
  readonly kind: 'retryable' | 'terminal' | 'unknown';
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

/**
 * What an execution knows of its own past, passed from state to state as data. No Step Functions variable is used:
 * whether variables survive a redrive is not documented, and a state's input does.
 */
export interface Progress {
  /** Business attempts spent since the start or the last replay. */
  readonly attempts: number;
  /** Commits in a row that lost a race. */
  readonly rounds: number;
  /** Set by Defer: `notBefore` has passed, whatever this function's clock says. */
  readonly deferred?: boolean;
  /** Set by RunEffects: a FAILED effect has just been tried, and is not to be asked for again before a back-off. */
  readonly effectsRan?: boolean;
  /** Since when the version before this one has been missing (ISO 8601). */
  readonly gapSince?: string;
  /** The final failure, when Quarantine was refused and Plan has to look again: nothing may be tried any more. */
  readonly exhausted?: FailureRecord;
}

export const FRESH_PROGRESS: Progress = { attempts: 0, rounds: 0 };
