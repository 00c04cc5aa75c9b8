import type { Decision } from '../core/decision.ts';
import type { LogFields, Telemetry } from '../core/telemetry.ts';
import { type PlanDeps, type PlanRequest, plan } from './plan.ts';

export interface PlanHandlerDeps extends PlanDeps {
  readonly telemetry: Telemetry;
}

/** Plan's Lambda handler: an execution in, a decision out. One log line per decision. */
export function createHandler(deps: PlanHandlerDeps) {
  return async (request: PlanRequest): Promise<Decision> => {
    const startedAt = deps.clock.now();
    try {
      const decision = await plan(request, deps);
      report(decision, request, deps.clock.now() - startedAt, deps.telemetry);
      return decision;
    } finally {
      deps.telemetry.flush();
    }
  };
}

function report(decision: Decision, request: PlanRequest, processingMs: number, telemetry: Telemetry): void {
  const { identity } = decision;
  const fields: LogFields = {
    messageType: identity.messageType,
    tenantId: identity.tenantId,
    correlationId: identity.correlationId,
    traceparent: identity.traceparent,
    executionName: request.execution.Name,
    processingMs,
    result: decision.decision,
    ...('failure' in decision ? { code: decision.failure.code } : {}),
  };
  if (decision.decision === 'UnknownFailure') telemetry.error('message_planned', fields);
  else telemetry.info('message_planned', fields);
  if (decision.decision === 'OutOfOrder') telemetry.metric('Parked', 1);
  if (decision.decision === 'RetryableFailure' || decision.decision === 'UnknownFailure') {
    telemetry.metric('BusinessAttempts', 1);
  }
}
