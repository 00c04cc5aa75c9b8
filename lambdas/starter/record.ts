import {
  describeIssues,
  type Envelope,
  type EnvelopeIssue,
  type EnvelopeResult,
  parseEnvelope,
} from '../core/envelope.ts';
import { FAILURE_CODES } from '../core/errors.ts';
import type { Manifest, TypeManifest } from '../core/manifest.ts';
import { type Source, type SourceRecord, sourcesFor, WEBHOOK_ATTRIBUTE } from '../core/sources.ts';

/** One SQS record, as far as the starter looks at it. */
export interface QueueRecord extends SourceRecord {
  readonly receiptHandle: string;
  /** ApproximateReceiveCount */
  readonly receiveCount: number;
  /** FIFO queues: the message group. */
  readonly groupId?: string;
  readonly queueArn: string;
}

/** Why a message cannot be started. Names paths, rules and types, never values. */
export interface Rejection {
  readonly code: string;
  readonly reason: string;
}

export type ReadResult =
  | { readonly ok: true; readonly envelope: Envelope; readonly type: TypeManifest }
  | {
      readonly ok: false;
      readonly rejection: Rejection;
      /** What could be read all the same, where its type says how much of it may be shown. */
      readonly read?: { readonly envelope: Envelope; readonly type: TypeManifest };
    };

export interface ReadOptions {
  readonly manifest: Manifest;
  readonly sources: readonly Source[];
  /** A `notBefore` later than this (epoch milliseconds) cannot be waited for within an execution. */
  readonly latestNotBefore: number;
}

/** Reads a record's envelope and checks it against what is deployed. Never throws. */
export function readRecord(record: QueueRecord, options: ReadOptions): ReadResult {
  const result = toEnvelope(record, options.sources);
  if (!result.ok) return reject(result.code, describeIssues(result.issues));
  const { envelope } = result;
  const type = Object.hasOwn(options.manifest.types, envelope.messageType)
    ? options.manifest.types[envelope.messageType]
    : undefined;
  if (type === undefined) {
    return reject(FAILURE_CODES.UNKNOWN_MESSAGE_TYPE, '$.messageType: is not deployed in this worker');
  }
  const refuse = (only: EnvelopeIssue): ReadResult => ({
    ok: false,
    rejection: { code: FAILURE_CODES.INVALID_ENVELOPE, reason: describeIssues([only]) },
    read: { envelope, type },
  });
  const versioned = type.ordering === 'latest' || type.ordering === 'sequential';
  if (versioned && envelope.aggregateVersion === undefined) {
    return refuse({
      path: '$.aggregateVersion',
      rule: `is required, because ${envelope.messageType} is ordered "${type.ordering}"`,
      found: 'nothing',
    });
  }
  const notBefore = envelope.attemptPolicy?.notBefore;
  if (notBefore && Date.parse(notBefore) > options.latestNotBefore) {
    return refuse({
      path: '$.attemptPolicy.notBefore',
      rule: 'must fall within the time that an execution may live (executionTimeout)',
      found: 'string',
    });
  }
  return { ok: true, envelope, type };
}

function toEnvelope(record: QueueRecord, sources: readonly Source[]): EnvelopeResult {
  const context = { traceparent: record.attributes.traceparent };
  for (const source of sourcesFor(record, sources)) {
    let text: string | undefined;
    try {
      const built = source.toEnvelope(record);
      if (built === undefined) continue;
      if (built instanceof Promise) {
        // A rejection that nobody takes would end the function, and with it the batch.
        built.catch(() => {});
        throw new TypeError('a source must answer without a promise');
      }
      // Through text, so that a built envelope is held to the same JSON as one that was sent.
      text = JSON.stringify(built);
    } catch (error) {
      const why = error instanceof Error ? error.name : 'UnknownFailure';
      return issue({ path: '$', rule: `was refused by source ${source.name} (${why})`, found: 'text' });
    }
    return parseEnvelope(text ?? '', context);
  }
  if (record.attributes[WEBHOOK_ATTRIBUTE] !== undefined) {
    return issue({ path: '$', rule: 'came by a webhook that no source takes', found: 'text' });
  }
  return parseEnvelope(record.body, context);
}

const issue = (only: EnvelopeIssue): EnvelopeResult => ({
  ok: false,
  code: FAILURE_CODES.INVALID_ENVELOPE,
  issues: [only],
});

function reject(code: string, reason: string): ReadResult {
  return { ok: false, rejection: { code, reason } };
}
