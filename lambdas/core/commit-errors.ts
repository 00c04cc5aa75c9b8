/**
 * What Commit throws besides the names of decisions. The state machine matches every one of them.
 *
 * - `CommitConflict`: another transaction was in the way; the guard may still hold; retried in place
 * - `GuardFailed`: the version or the inbox row has moved; Plan reads and decides again
 * - `Throttled`: DynamoDB asks for patience; retried in place
 * - `PlanRejected`: DynamoDB refuses the plan as it stands; terminal
 */
export const COMMIT_ERRORS = ['CommitConflict', 'GuardFailed', 'Throttled', 'PlanRejected'] as const;
export type CommitErrorName = (typeof COMMIT_ERRORS)[number];

/** Carries a name for the state machine to route by. No content: what belongs to it is in the decision. */
export class RoutedError extends Error {
  override readonly name: string;

  constructor(name: string, message = '') {
    super(message);
    this.name = name;
    // Lambda writes the stack into the log and into the error's cause; a route needs none.
    this.stack = name;
  }
}
