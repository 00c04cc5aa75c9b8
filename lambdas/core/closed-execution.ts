import type { Envelope } from './envelope.ts';
import { FAILURE_CODE_PATTERN, FAILURE_CODES } from './errors.ts';
import { numberOf, type Row, textOf } from './ports.ts';
import { aggregateKey, attentionKey, type ItemKey, inboxKey } from './table.ts';
import { type Expression, type TransactionItem, ttlAfter, updateOf } from './transaction.ts';

/** How an execution can end without success. */
export const UNSUCCESSFUL = ['FAILED', 'TIMED_OUT', 'ABORTED'] as const;
export type Unsuccessful = (typeof UNSUCCESSFUL)[number];

/** An execution that has ended without success, as Step Functions describes it. */
export interface ClosedExecution {
  readonly arn: string;
  readonly name: string;
  readonly status: Unsuccessful;
  /** ISO 8601 */
  readonly startedAt: string;
  /** ISO 8601 */
  readonly stoppedAt: string;
  readonly redriveCount: number;
  readonly error: string | undefined;
  readonly cause: string | undefined;
  readonly envelope: Envelope;
  readonly requestHash: string;
  /** The input without its envelope, as it was started with: hash, policy and what else a replay needs. */
  readonly rest: Readonly<Record<string, unknown>>;
}

/** What becomes of a closed execution's work. */
export type ClosureVerdict =
  | { readonly verdict: 'abandon'; readonly failure: AbandonedFailure }
  /** Nothing to do, and why. */
  | {
      readonly verdict: 'none';
      readonly why: 'noRow' | 'otherExecution' | 'otherRequest' | 'final' | 'redriven';
    };

export interface AbandonedFailure {
  readonly code: string;
  readonly message: string;
}

const MAX_CAUSE_CHARACTERS = 500;

/**
 * Judges whether a closed execution has left its work without an end.
 *
 * Only the execution that the row names counts: the end of an original that `-r1` has succeeded says nothing about
 * the work. A final row needs nothing, since the execution's own Quarantine or a Commit was there.
 */
export function judgeClosure(execution: ClosedExecution, row: Row | undefined): ClosureVerdict {
  if (row === undefined) return { verdict: 'none', why: 'noRow' };
  if (textOf(row, 'requestHash') !== execution.requestHash) return { verdict: 'none', why: 'otherRequest' };
  if (textOf(row, 'executionName') !== execution.name) return { verdict: 'none', why: 'otherExecution' };
  const status = textOf(row, 'status');
  if (status === 'COMPLETED' || status === 'FAILED_TERMINAL') return { verdict: 'none', why: 'final' };
  // Descriptions are eventually consistent: the row may know of a redrive that this one does not.
  const replay = textOf(row, 'replayId')?.split('#');
  if (replay?.[0] === execution.name && Number(replay[1]) > execution.redriveCount) {
    return { verdict: 'none', why: 'redriven' };
  }
  return { verdict: 'abandon', failure: failureOf(execution) };
}

function failureOf({ status, error, cause }: ClosedExecution): AbandonedFailure {
  const said =
    cause === undefined || cause === '' ? '' : `: ${cause.slice(0, MAX_CAUSE_CHARACTERS).toWellFormed()}`;
  switch (status) {
    case 'ABORTED':
      return { code: FAILURE_CODES.EXECUTION_ABORTED, message: `the execution was aborted${said}` };
    case 'TIMED_OUT':
      return {
        code: FAILURE_CODES.EXECUTION_TIMED_OUT,
        message: `the execution outlived its time-out${said}`,
      };
    case 'FAILED': {
      const named = error !== undefined && FAILURE_CODE_PATTERN.test(error);
      return {
        code: named ? error : FAILURE_CODES.EXECUTION_FAILED,
        message: `the execution failed where nothing could catch it${said}`,
      };
    }
  }
}

export interface AbandonFacts {
  readonly execution: ClosedExecution;
  readonly failure: AbandonedFailure;
  /** The inbox row as it was read. */
  readonly row: Row;
  readonly worker: string;
  readonly inboxTtlSeconds: number;
}

/**
 * The transaction that ends abandoned work, with the rows that the state machine's own Quarantine writes, so that
 * nobody has to tell the two apart.
 *
 * Condition on the inbox row: hash, execution, status, attempts and replay are those that were read. A commit, a
 * failure that the execution recorded itself, a replay or a second run of this came first: then nothing is written.
 * A parked execution's waiter goes along, unless it parked again after that end, i.e. lives.
 */
export function abandonItems(facts: AbandonFacts): readonly TransactionItem[] {
  const { execution, failure, row, worker } = facts;
  const { envelope, requestHash, stoppedAt } = execution;
  const day = stoppedAt.slice(0, 10);
  const shard = requestHash.slice(0, 1);
  const attempts = numberOf(row, 'attempts') ?? 0;
  return [
    {
      action: 'Update',
      key: inboxKey(envelope.idempotencyKey, worker),
      update: updateOf(
        {
          status: 'FAILED_TERMINAL',
          attempts,
          attemptsOf: execution.name,
          failureCode: failure.code,
          failureReason: failure.code,
          failureMessage: failure.message,
          failedAt: stoppedAt,
          attention: attentionKey('FAILED_TERMINAL', stoppedAt, requestHash),
          attentionAt: stoppedAt,
          ttl: ttlAfter(stoppedAt, facts.inboxTtlSeconds),
        },
        [],
        { firstSeenAt: execution.startedAt, startedAt: execution.startedAt },
      ),
      condition: unchanged(row, ['requestHash', 'executionName', 'status', 'attempts', 'replayId']),
    },
    {
      action: 'Put',
      item: {
        PK: `QUARANTINE#${day}#${shard}`,
        SK: `${stoppedAt}#${execution.name}#${execution.redriveCount}`,
        source: 'execution',
        code: failure.code,
        reason: failure.code,
        message: failure.message,
        idempotencyKey: envelope.idempotencyKey,
        messageType: envelope.messageType,
        executionArn: execution.arn,
        attempts,
        envelope: JSON.stringify(envelope),
        input: JSON.stringify(execution.rest),
        openedAt: stoppedAt,
        attention: attentionKey('QUARANTINED', stoppedAt, requestHash),
        attentionAt: stoppedAt,
      },
    },
    ...waiterItem(execution, row),
  ];
}

/** The quarantine queue's message, as the state machine sends it. */
export function abandonNotice({ execution, failure, row }: AbandonFacts) {
  return {
    code: failure.code,
    reason: failure.code,
    message: failure.message,
    attempts: numberOf(row, 'attempts') ?? 0,
    executionArn: execution.arn,
    envelope: execution.envelope,
    firstSeenAt: textOf(row, 'firstSeenAt') ?? execution.startedAt,
    quarantinedAt: execution.stoppedAt,
  };
}

/**
 * Where the waiter row of an ordered message's execution would be; undefined for an unordered one. Beside the aggregate
 * of its own envelope, as Plan parks it: where that is sealed, the row's index key is of another place.
 */
function waiterKeyOf({ envelope, name }: ClosedExecution, row: Row): ItemKey | undefined {
  const order = textOf(row, 'aggregateOrder');
  if (order === undefined || order.endsWith('#-')) return undefined;
  const { PK } = aggregateKey(envelope.aggregateType, envelope.aggregateId);
  return { PK, SK: `WAITER#${order}#${name}` };
}

function waiterItem(execution: ClosedExecution, row: Row): TransactionItem[] {
  const key = waiterKeyOf(execution, row);
  if (key === undefined) return [];
  const condition: Expression = {
    text: 'attribute_not_exists(PK) OR parkedAt <= :stoppedAt',
    names: {},
    values: { ':stoppedAt': execution.stoppedAt },
  };
  return [{ action: 'Delete', key, condition }];
}

function unchanged(row: Row, attributes: readonly string[]): Expression {
  const names: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  const parts = attributes.map((attribute, index) => {
    names[`#c${index}`] = attribute;
    if (row[attribute] === undefined) return `attribute_not_exists(#c${index})`;
    values[`:c${index}`] = row[attribute];
    return `#c${index} = :c${index}`;
  });
  return { text: parts.join(' AND '), names, values };
}
