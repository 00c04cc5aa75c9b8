import type { Execution, ExecutionStatus } from './execution.ts';

/** The detail of EventBridge's "Step Functions Execution Status Change" event; times in epoch milliseconds. */
export interface StatusChange {
  readonly executionArn: string;
  readonly stateMachineArn: string;
  readonly name: string;
  readonly status: ExecutionStatus;
  readonly startDate: number;
  readonly stopDate: number | null;
  readonly input: string | null;
  readonly inputDetails: { readonly included: boolean };
  readonly output: string | null;
  readonly outputDetails: { readonly included: boolean } | null;
  readonly error: string | null;
  readonly cause: string | null;
  readonly redriveCount: number;
  readonly redriveDate: number | null;
}

/** Input and output together are left out above this many bytes. */
const MAX_DATA_BYTES = 248 * 1024;

export function statusChangeOf(execution: Execution): StatusChange {
  const { input, output } = execution;
  const included = Buffer.byteLength(input) + Buffer.byteLength(output ?? '') <= MAX_DATA_BYTES;
  return {
    executionArn: execution.arn,
    stateMachineArn: execution.machineArn,
    name: execution.name,
    status: execution.status,
    startDate: execution.startedAt,
    stopDate: execution.stoppedAt ?? null,
    input: included ? input : null,
    inputDetails: { included },
    output: included ? (output ?? null) : null,
    outputDetails: output === undefined ? null : { included },
    error: execution.error ?? null,
    cause: execution.cause ?? null,
    redriveCount: execution.redriveCount,
    redriveDate: execution.redrivenAt ?? null,
  };
}
