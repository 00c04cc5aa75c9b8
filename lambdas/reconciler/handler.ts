import { readInput } from '../aws/history.ts';
import { type ReconcilerDeps, settle, sweep } from './reconciler.ts';

/** EventBridge's "Step Functions Execution Status Change", as far as it is read. */
export interface StatusChangeEvent {
  readonly source: 'aws.states';
  readonly detail: {
    readonly executionArn: string;
    readonly name: string;
    /** Left out by the service when input and output are above 248 KiB. */
    readonly input?: string | null;
  };
}

/** What starts a sweep. */
export interface ScheduleEvent {
  readonly source: 'aws.events';
}

/** What the rule passes: executions of the worker's machine that closed without success. */
export const STATUS_CHANGE_RULE = {
  source: 'aws.states',
  detailType: 'Step Functions Execution Status Change',
  statuses: ['FAILED', 'TIMED_OUT', 'ABORTED'],
} as const;

/** How often the schedule sweeps. */
export const SWEEP_MINUTES = 5;

/**
 * The reconciler's Lambda handler: one closed execution, or a sweep. Errors are thrown, so that Lambda repeats the
 * asynchronous invocation.
 */
export function createHandler(deps: ReconcilerDeps) {
  return async (event: StatusChangeEvent | ScheduleEvent): Promise<void> => {
    try {
      if (event.source === 'aws.events') {
        await sweep(deps);
        return;
      }
      const { executionArn, name, input } = event.detail;
      const known = typeof input === 'string' ? readInput(input) : undefined;
      await settle(
        {
          arn: executionArn,
          name,
          ...(known === undefined ? {} : { idempotencyKey: known.envelope.idempotencyKey }),
        },
        deps,
      );
    } finally {
      deps.telemetry.flush();
    }
  };
}
