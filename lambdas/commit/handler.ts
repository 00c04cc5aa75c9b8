import { routingTransientFaults } from '../aws/transient.ts';
import type { Clock } from '../core/clock.ts';
import { RoutedError } from '../core/commit-errors.ts';
import type { CommitResult } from '../core/decision.ts';
import { countRouted } from '../core/routed-errors.ts';
import { type LogFields, type Telemetry, workFields } from '../core/telemetry.ts';
import { type CommitDeps, type CommitRequest, commit } from './commit.ts';

export interface CommitHandlerDeps extends CommitDeps {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** Commit's Lambda handler: a decision in; the result out, or an error by whose name the state machine routes. */
export function createHandler(deps: CommitHandlerDeps) {
  return async (request: CommitRequest): Promise<CommitResult> => {
    const startedAt = deps.clock.now();
    try {
      const result = await routingTransientFaults(() => commit(request, deps));
      reportCommit(request, result, deps.clock.now() - startedAt, deps);
      return result;
    } catch (error) {
      countRouted(error, 'Commit', deps.telemetry);
      if (error instanceof RoutedError && (error.name === 'CommitConflict' || error.name === 'GuardFailed')) {
        deps.telemetry.metric('CommitConflicts', 1, { kind: error.name });
      }
      throw error;
    } finally {
      deps.telemetry.flush();
    }
  };
}

function reportCommit(
  request: CommitRequest,
  result: CommitResult,
  dbTransactionMs: number,
  deps: CommitHandlerDeps,
): void {
  const { identity } = request.decision;
  const fields: LogFields = {
    ...workFields(identity, request.execution.Name),
    dbTransactionMs,
    result: result.outcome,
  };
  deps.telemetry.info('worker_message_completed', fields);
  deps.telemetry.metric('MessagesCompleted', 1);
  if (result.outcome === 'SUPERSEDED') deps.telemetry.metric('MessagesSuperseded', 1);
  deps.telemetry.metric('CommitLatency', dbTransactionMs);
  deps.telemetry.metric('EndToEndLatency', deps.clock.now() - Date.parse(request.execution.StartTime));
}
