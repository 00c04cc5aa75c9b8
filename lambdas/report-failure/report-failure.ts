import { RoutedError } from '../core/commit-errors.ts';
import { FAILURE_CODE_PATTERN } from '../core/errors.ts';
import type { ExecutionContext, FailureRecord } from '../core/execution.ts';

/** The state's own input, as Quarantine or a hash mismatch left it. */
export interface FailureReport {
  readonly failure: FailureRecord;
  /** Why no further attempt is made: the code itself, `ATTEMPTS_EXHAUSTED` or `RETRY_WINDOW_CLOSED`. */
  readonly reason?: string;
  readonly attempts: number;
  /** The execution's redrive count when the failure became final. It survives a redrive, as all input does. */
  readonly redriveCount: number;
}

export interface ReportFailureRequest {
  readonly report: FailureReport;
  readonly execution: ExecutionContext;
}

export interface ReplayWrite {
  readonly idempotencyKey: string;
  readonly requestHash: string;
  readonly executionName: string;
  /** Names this replay, so that a retried invocation counts it once. */
  readonly replayId: string;
}

export interface ReportFailureDeps {
  /**
   * Gives the inbox row a fresh budget: PROCESSING, no attempts spent, one replay more.
   * @returns false when the row is completed, belongs to another request, or has counted this replay already
   */
  readonly beginReplay: (write: ReplayWrite) => Promise<boolean>;
}

/** Fails the execution under the failure's own code; the message is JSON for the operator who opens it. */
export class ReportedFailure extends RoutedError {
  constructor(report: FailureReport, execution: ExecutionContext) {
    const { envelope } = execution.Input;
    super(
      FAILURE_CODE_PATTERN.test(report.failure.code) ? report.failure.code : 'UnknownFailure',
      JSON.stringify({
        code: report.failure.code,
        reason: report.reason ?? report.failure.code,
        message: report.failure.message,
        attempts: report.attempts,
        idempotencyKey: envelope.idempotencyKey,
        messageType: envelope.messageType,
        aggregate: `${envelope.aggregateType}#${envelope.aggregateId}`,
        next: 'mend the cause, then Redrive this execution',
      }),
    );
  }
}

/**
 * The last state of a failure. It is entered again by a redrive: that is so exactly when the context's redrive count
 * exceeds the one in the report. Then the work gets a fresh budget and goes on.
 *
 * @returns 'replayed' when Plan is to go on
 * @throws ReportedFailure otherwise
 */
export async function reportFailure(
  { report, execution }: ReportFailureRequest,
  deps: ReportFailureDeps,
): Promise<'replayed'> {
  if (execution.RedriveCount <= report.redriveCount) throw new ReportedFailure(report, execution);
  await deps.beginReplay({
    idempotencyKey: execution.Input.envelope.idempotencyKey,
    requestHash: execution.Input.requestHash,
    executionName: execution.Name,
    replayId: `${execution.Name}#${execution.RedriveCount}`,
  });
  return 'replayed';
}
