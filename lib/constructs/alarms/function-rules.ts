import { Duration } from 'aws-cdk-lib';
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { WorkerAlarmsProps } from '../worker-alarms.ts';
import type { WorkerFunction } from '../worker-function.ts';
import { workerMetric } from '../worker-metrics.ts';
import { type AlarmRule, type AlarmRules, MINUTE } from './rule.ts';

/** Alarms on the functions: errors and throttles of each, and two that are slow. */
export function functionRules(props: WorkerAlarmsProps): AlarmRules {
  const { worker } = props;
  const { starter, plan, commit, reportFailure, waker, reconciler } = worker;
  const plain: Readonly<Record<string, WorkerFunction>> = {
    Starter: starter,
    Plan: plan,
    Waker: waker,
    Reconciler: reconciler,
  };
  const routing: Readonly<Record<string, WorkerFunction>> = {
    Commit: commit,
    ReportFailure: reportFailure,
    ...Object.fromEntries(
      Object.entries(worker.providers).map(([name, part]) => [`RunEffect${name}`, part] as const),
    ),
  };
  const errors = Object.entries(plain).map(([name, part]): [string, AlarmRule] => [
    `${name}Errors`,
    {
      section: 'stuck',
      what: `the function ${name} fails`,
      metric: part.function.metricErrors({ period: MINUTE }),
      from: 1,
      periods: 3,
    },
  ]);
  const faults = Object.entries(routing).map(([name, part]): [string, AlarmRule] => [
    `${name}Errors`,
    {
      section: 'stuck',
      what: `the function ${name} fails, times out or cannot start; errors by which it routes executions are left out`,
      metric: faultsOf(worker.workerName, name, part),
      from: 1,
      periods: 3,
    },
  ]);
  const throttles = Object.entries({ ...plain, ...routing }).map(([name, part]): [string, AlarmRule] => [
    `${name}Throttles`,
    {
      section: 'throttled',
      what: `the function ${name} is throttled: the account's or its own concurrency is used up`,
      metric: part.function.metricThrottles({ period: MINUTE }),
      from: 1,
      periods: 3,
    },
  ]);
  const timeout = props.starterTimeout ?? starter.timeout;
  return {
    ...Object.fromEntries([...errors, ...faults, ...throttles]),
    StarterSlow: {
      section: 'backlog',
      what: 'the slowest batches need 80 % of the time-out from which the visibility time-out is derived',
      metric: starter.function.metricDuration({ period: MINUTE, statistic: 'p99' }),
      from: timeout.toMilliseconds() * 0.8,
      periods: 3,
    },
    StreamLag: {
      section: 'stuck',
      what: 'the waker is a minute behind: executions that wait are woken late',
      metric: waker.function.metric('IteratorAge', { period: MINUTE, statistic: 'Maximum' }),
      from: MINUTE.toMilliseconds(),
      periods: 5,
    },
  };
}

/**
 * Errors of a function that also throws to route executions, without those: time-outs, crashes and failed starts are
 * in it, since Lambda counts them and the function cannot.
 *
 * Lambda counts an invocation when it begins, the function counts when it ends. One that lies across the end of a
 * period makes this one too high there and too low in the next: over periods in a row such differences cancel each
 * other out, so the alarm asks for three.
 */
function faultsOf(workerName: string, name: string, part: WorkerFunction): MathExpression {
  const period = Duration.minutes(5);
  return new MathExpression({
    expression: 'errors - FILL(routed, 0)',
    usingMetrics: {
      errors: part.function.metricErrors({ period }),
      routed: workerMetric(workerName, 'RoutedErrors', { period, dimensions: { function: name } }),
    },
    period,
    label: `faults of ${name}`,
  });
}
