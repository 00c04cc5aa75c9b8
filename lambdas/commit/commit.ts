import { RoutedError } from '../core/commit-errors.ts';
import { type CommitDecision, type CommitResult, type Decision, PLAN_VERSION } from '../core/decision.ts';
import type { PayloadRef } from '../core/envelope.ts';
import { canonicalJson, sha256 } from '../core/identity.ts';
import { commitItems, type TransactionItem, type TransactionOutcome } from '../core/transaction.ts';

/** ClientRequestToken: at most 36 characters. */
const TOKEN_LENGTH = 36;

export interface CommitDeps {
  readonly worker: string;
  readonly inboxTtlSeconds: number;
  readonly outboxTtlSeconds: number;
  /** A decision that was put aside; undefined when it is no longer there as it was. */
  readonly readAside: (ref: PayloadRef) => Promise<CommitDecision | undefined>;
  readonly transact: (items: readonly TransactionItem[], token: string) => Promise<TransactionOutcome>;
}

export interface CommitRequest {
  readonly decision: Decision;
  readonly execution: { readonly Id: string; readonly Name: string; readonly StartTime: string };
}

/**
 * Carries out a `Commit` decision in one transaction.
 *
 * The token is a hash of the execution and the serialised items, and every time in them comes from the decision: a
 * retry after a lost answer is the same transaction, another decision is another one.
 *
 * @throws RoutedError named by the decision when there is nothing to commit, or by what DynamoDB answered (`COMMIT_ERRORS`).
 */
export async function commit(request: CommitRequest, deps: CommitDeps): Promise<CommitResult> {
  const { decision, execution } = request;
  if (decision.decision !== 'Commit') throw new RoutedError(decision.decision);
  if (decision.planVersion > PLAN_VERSION || decision.planVersion < PLAN_VERSION - 1) {
    throw new RoutedError('GuardFailed', `plan version ${decision.planVersion} is not this deployment's`);
  }
  const whole = decision.aside === undefined ? decision : await deps.readAside(decision.aside);
  if (whole === undefined) throw new RoutedError('GuardFailed', 'the plan that was put aside is gone');
  const items = commitItems(whole, {
    worker: deps.worker,
    executionName: execution.Name,
    startedAt: execution.StartTime,
    inboxTtlSeconds: deps.inboxTtlSeconds,
    outboxTtlSeconds: deps.outboxTtlSeconds,
  });
  const token = sha256(`${execution.Id}\n${serialise(items)}`).slice(0, TOKEN_LENGTH);
  const result = await deps.transact(items, token);
  if (result.outcome !== 'committed') {
    throw new RoutedError(result.outcome, `[${result.reasons.join(', ')}]`);
  }
  return {
    status: 'COMPLETED',
    outcome: decision.outcome,
    idempotencyKey: decision.identity.idempotencyKey,
    ...(decision.resultRef === undefined ? {} : { resultRef: decision.resultRef }),
  };
}

function serialise(items: readonly TransactionItem[]): string {
  const plain: unknown = JSON.parse(
    JSON.stringify(items, (_key, value) => (typeof value === 'bigint' ? `${value}n` : value)),
  );
  return canonicalJson(plain);
}
