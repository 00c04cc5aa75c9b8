import { routingTransientFaults } from '../aws/transient.ts';
import { countRouted } from '../core/routed-errors.ts';
import { codeDimension, type LogFields, type Telemetry, workFields } from '../core/telemetry.ts';
import {
  ReportedFailure,
  type ReportFailureDeps,
  type ReportFailureRequest,
  reportFailure,
} from './report-failure.ts';

export interface ReportFailureHandlerDeps extends ReportFailureDeps {
  readonly telemetry: Telemetry;
  /** Codes that message types declare: the others count as OTHER. */
  readonly declaredCodes: readonly string[];
}

/** ReportFailure's Lambda handler: throws the failure under its code, or returns when a redrive replays it. */
export function createHandler(deps: ReportFailureHandlerDeps) {
  return async (request: ReportFailureRequest): Promise<Record<string, never>> => {
    const { envelope } = request.execution.Input;
    const { code } = request.report.failure;
    const fields: LogFields = {
      ...workFields(envelope, request.execution.Name),
      attempts: request.report.attempts,
      code,
    };
    try {
      await routingTransientFaults(() => reportFailure(request, deps));
      deps.telemetry.info('message_replayed', { ...fields, result: 'REPLAYED' });
      deps.telemetry.metric('Replays', 1);
      return {};
    } catch (error) {
      countRouted(error, 'ReportFailure', deps.telemetry);
      if (error instanceof ReportedFailure) {
        deps.telemetry.error('message_failed', { ...fields, result: 'FAILED_TERMINAL' });
        deps.telemetry.metric('TerminalFailures', 1, {
          code: codeDimension(code, deps.declaredCodes),
        });
        deps.telemetry.metric('Quarantined', 1);
      }
      throw error;
    } finally {
      deps.telemetry.flush();
    }
  };
}
