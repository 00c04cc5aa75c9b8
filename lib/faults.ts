import { ConfigurationError } from '../lambdas/core/errors.ts';

/** One thing that is wrong with a construct's props. */
export interface Fault {
  /** The prop, as it is written in the caller's code. */
  readonly prop: string;
  /** What must hold, with the arithmetic where there is one. */
  readonly rule: string;
  /** What to do about it. */
  readonly remedy: string;
}

/**
 * Reports every fault at once: a deployer who corrects one at a time pays a synthesis for each.
 *
 * @param subject path of the construct
 * @throws ConfigurationError when there is a fault
 */
export function throwFaults(subject: string, faults: readonly Fault[]): void {
  if (faults.length === 0) return;
  const lines = faults.map(({ prop, rule, remedy }) => `  - ${prop}: ${rule}. ${remedy}.`);
  const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`;
  throw new ConfigurationError(`${subject} has ${count}:\n${lines.join('\n')}`);
}
