import type { WorkerAlarmsProps } from '../worker-alarms.ts';
import type { WorkerFunction } from '../worker-function.ts';
import { type AlarmRule, type AlarmRules, MINUTE } from './rule.ts';

/** Alarms on the functions. */
export function functionRules(props: WorkerAlarmsProps): AlarmRules {
  const { worker } = props;
  const { starter, plan, commit, reportFailure, waker, reconciler } = worker;
  // Commit, ReportFailure and RunEffect also throw to route an execution: their failures show as its failures.
  const throwing: Readonly<Record<string, WorkerFunction>> = {
    Starter: starter,
    Plan: plan,
    Waker: waker,
    Reconciler: reconciler,
  };
  const providers = Object.entries(worker.providers).map(
    ([name, part]) => [`RunEffect${name}`, part] as const,
  );
  const all = {
    ...throwing,
    Commit: commit,
    ReportFailure: reportFailure,
    ...Object.fromEntries(providers),
  };
  const errors = Object.entries(throwing).map(([name, part]): [string, AlarmRule] => [
    `${name}Errors`,
    {
      section: 'stuck',
      what: `the function ${name} fails`,
      metric: part.function.metricErrors({ period: MINUTE }),
      from: 1,
      minutes: 3,
    },
  ]);
  const throttles = Object.entries(all).map(([name, part]): [string, AlarmRule] => [
    `${name}Throttles`,
    {
      section: 'throttled',
      what: `the function ${name} is throttled: the account's or its own concurrency is used up`,
      metric: part.function.metricThrottles({ period: MINUTE }),
      from: 1,
      minutes: 3,
    },
  ]);
  const timeout = props.starterTimeout ?? starter.timeout;
  return {
    ...Object.fromEntries([...errors, ...throttles]),
    StarterSlow: {
      section: 'backlog',
      what: 'the slowest batches need 80 % of the time-out from which the visibility time-out is derived',
      metric: starter.function.metricDuration({ period: MINUTE, statistic: 'p99' }),
      from: timeout.toMilliseconds() * 0.8,
      minutes: 3,
    },
    StreamLag: {
      section: 'stuck',
      what: 'the stream consumer is a minute behind: executions that wait are woken late',
      metric: waker.function.metric('IteratorAge', { period: MINUTE, statistic: 'Maximum' }),
      from: MINUTE.toMilliseconds(),
      minutes: 5,
    },
  };
}
