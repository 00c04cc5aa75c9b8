import { Duration } from 'aws-cdk-lib';
import type { WorkerAlarmsProps } from '../worker-alarms.ts';
import { workerMetric } from '../worker-metrics.ts';
import { type AlarmRules, MINUTE } from './rule.ts';

/** Alarms on the executions, and on what keeps them waiting. */
export function executionRules(props: WorkerAlarmsProps): AlarmRules {
  const { worker, orderingGap = Duration.hours(1) } = props;
  const machine = worker.stateMachine.stateMachine;
  return {
    ExecutionsFailed: {
      section: 'quarantine',
      what: 'executions have failed, each under the code of its failure',
      metric: machine.metricFailed({ period: MINUTE, statistic: 'Sum' }),
      from: 1,
    },
    ExecutionsAborted: {
      section: 'stuck',
      what: 'executions were stopped by hand; the reconciler makes each a case',
      metric: machine.metricAborted({ period: MINUTE, statistic: 'Sum' }),
      from: 1,
    },
    ExecutionsTimedOut: {
      section: 'stuck',
      what: 'executions have run out of time; the reconciler makes each a case',
      metric: machine.metricTimedOut({ period: MINUTE, statistic: 'Sum' }),
      from: 1,
    },
    HashMismatches: {
      section: 'dlq',
      what: 'a known key has come with other content: a producer reuses keys',
      metric: workerMetric(worker.workerName, 'HashMismatches'),
      from: 1,
    },
    OrderingGap: {
      section: 'stuck',
      what: `a predecessor has been missing for ${orderingGap.toMinutes()} minutes or more`,
      metric: workerMetric(worker.workerName, 'OrderingGapSeconds', { statistic: 'Maximum' }),
      from: orderingGap.toSeconds(),
    },
  };
}
