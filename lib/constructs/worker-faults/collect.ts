import type { Fault } from '../../faults.ts';
import type { WorkflowWorkerProps } from '../workflow-worker-props.ts';
import type { ResolvedSettings } from '../workflow-worker-settings.ts';

/** What the checks of a worker's props have in common. */
export interface Collector {
  readonly props: WorkflowWorkerProps;
  readonly settings: ResolvedSettings;
  /** Notes a fault unless the rule holds. */
  readonly expect: (holds: boolean, prop: string, rule: string, remedy: string) => void;
  /** The same for whole numbers; an absent one is none. */
  readonly whole: (
    prop: string,
    value: number | undefined,
    least: number,
    most: number,
    remedy: string,
  ) => void;
}

/** Gathers faults instead of stopping at the first. */
export function collectFaults(
  props: WorkflowWorkerProps,
  settings: ResolvedSettings,
  checks: readonly ((collector: Collector) => void)[],
): readonly Fault[] {
  const faults: Fault[] = [];
  const expect: Collector['expect'] = (holds, prop, rule, remedy) => {
    if (!holds) faults.push({ prop, rule, remedy });
  };
  const whole: Collector['whole'] = (prop, value, least, most, remedy) => {
    const holds = value === undefined || (Number.isSafeInteger(value) && value >= least && value <= most);
    expect(holds, prop, `must be a whole number from ${least} to ${most}, is ${value}`, remedy);
  };
  for (const check of checks) check({ props, settings, expect, whole });
  return faults;
}
