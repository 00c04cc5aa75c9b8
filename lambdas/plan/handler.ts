import { routingTransientFaults } from '../aws/transient.ts';
import type { Decision } from '../core/decision.ts';
import { codeDimension, type LogFields, type Telemetry, workFields } from '../core/telemetry.ts';
import { type PlanDeps, type PlanRequest, plan } from './plan.ts';

export interface PlanHandlerDeps extends PlanDeps {
  readonly telemetry: Telemetry;
}

/** Plan's Lambda handler: an execution in, a decision out. One log line per decision. */
export function createHandler(deps: PlanHandlerDeps) {
  return async (request: PlanRequest): Promise<Decision> => {
    const startedAt = deps.clock.now();
    try {
      const decision = await routingTransientFaults(() => plan(request, deps));
      report(decision, request, deps.clock.now() - startedAt, deps);
      return decision;
    } finally {
      deps.telemetry.flush();
    }
  };
}

function report(
  decision: Decision,
  request: PlanRequest,
  processingMs: number,
  { telemetry, registry }: PlanHandlerDeps,
): void {
  const { identity } = decision;
  const fields: LogFields = {
    ...workFields(identity, request.execution.Name),
    processingMs,
    result: decision.decision,
    ...('failure' in decision ? { code: decision.failure.code } : {}),
  };
  if (decision.decision === 'UnknownFailure') telemetry.error('message_planned', fields);
  else telemetry.info('message_planned', fields);
  switch (decision.decision) {
    case 'Commit':
      for (const provider of decision.cacheHits ?? []) {
        telemetry.metric('EffectCacheHits', 1, { provider });
        telemetry.metric('EffectLatency', processingMs, { provider, source: 'cache' });
      }
      break;
    case 'OutOfOrder': {
      telemetry.metric('Parked', 1);
      const { gapSince } = decision.progress;
      if (gapSince !== undefined) {
        telemetry.metric(
          'OrderingGapSeconds',
          (Date.parse(decision.plannedAt) - Date.parse(gapSince)) / 1000,
        );
      }
      break;
    }
    case 'RetryableFailure':
    case 'UnknownFailure': {
      const declared = registry.get(identity.messageType)?.failureCodes ?? [];
      telemetry.metric('BusinessAttempts', 1);
      telemetry.metric('RetryableFailures', 1, { code: codeDimension(decision.failure.code, declared) });
      break;
    }
    default:
  }
}
