import { RoutedError } from './commit-errors.ts';
import type { Telemetry } from './telemetry.ts';

/**
 * Counts an error by which the state machine routes an execution. Lambda counts such an error as one of the function, so
 * the alarm on the function's faults subtracts these.
 *
 * @param functionName the function as alarms name it
 */
export function countRouted(error: unknown, functionName: string, telemetry: Telemetry): void {
  if (error instanceof RoutedError) telemetry.metric('RoutedErrors', 1, { function: functionName });
}
