import { RoutedError } from './commit-errors.ts';
import type { Telemetry } from './telemetry.ts';

/**
 * Counts an error by which the state machine routes an execution. Lambda counts it as an error of the function; what
 * it counts beyond these is a fault, and that is what an alarm is set on.
 *
 * @param functionName the function as alarms name it
 */
export function countRouted(error: unknown, functionName: string, telemetry: Telemetry): void {
  if (error instanceof RoutedError) telemetry.metric('RoutedErrors', 1, { function: functionName });
}
