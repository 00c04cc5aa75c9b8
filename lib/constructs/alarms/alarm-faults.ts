import type { Duration } from 'aws-cdk-lib';
import type { Fault } from '../../faults.ts';
import type { WorkerAlarmsProps } from '../worker-alarms.ts';

const LEAST_SECONDS = 60;

/**
 * Everything that is wrong with the thresholds. An alarm that can never fire is worse than none.
 * @param providers names of the worker's providers
 */
export function findAlarmFaults(
  props: Omit<WorkerAlarmsProps, 'worker'>,
  providers: readonly string[],
): readonly Fault[] {
  const faults: Fault[] = [];
  for (const prop of ['backlogMessages', 'maxInFlight', 'mostMessagesPerDay'] as const) {
    const value = props[prop];
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1)) {
      faults.push({
        prop,
        rule: `must be a whole number from 1, is ${value}`,
        remedy: 'Leave it out, or correct it',
      });
    }
  }
  for (const prop of ['oldestMessage', 'orderingGap'] as const) {
    const seconds = secondsOf(props[prop]);
    if (seconds !== undefined && !(seconds >= LEAST_SECONDS && seconds % 60 === 0)) {
      faults.push({
        prop,
        rule: `must be whole minutes from 1, is ${seconds} s`,
        remedy: 'CloudWatch looks once a minute',
      });
    }
  }
  const timeout = secondsOf(props.starterTimeout);
  if (timeout !== undefined && !(timeout >= 1 && timeout <= 900)) {
    faults.push({
      prop: 'starterTimeout',
      rule: `must be from 1 to 900 seconds, is ${timeout} s`,
      remedy: 'Leave it out: it is the starter’s own',
    });
  }
  for (const [provider, percent] of Object.entries(props.leastCacheHitPercent ?? {})) {
    const prop = `leastCacheHitPercent.${provider}`;
    if (!providers.includes(provider)) {
      faults.push({ prop, rule: 'is no provider of the worker', remedy: 'Correct the name' });
    }
    if (!(percent > 0 && percent <= 100)) {
      faults.push({
        prop,
        rule: `must be above 0 and at most 100, is ${percent}`,
        remedy: 'The unit is percent',
      });
    }
  }
  return faults;
}

const secondsOf = (duration: Duration | undefined): number | undefined =>
  duration?.toSeconds({ integral: false });
