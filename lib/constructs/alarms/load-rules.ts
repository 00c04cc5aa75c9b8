import { Duration } from 'aws-cdk-lib';
import type { WorkerAlarmsProps } from '../worker-alarms.ts';
import { workerMetric } from '../worker-metrics.ts';
import type { AlarmRules } from './rule.ts';

/** Alarms on how much there is to do. */
export function loadRules(props: WorkerAlarmsProps): AlarmRules {
  const { worker, maxInFlight, mostMessagesPerDay } = props;
  const { workerName } = worker;
  return {
    StartsThrottled: {
      section: 'throttled',
      what: 'messages come that cannot be started, mostly since Step Functions throttles; they return to the queue',
      metric: workerMetric(workerName, 'StartsThrottled'),
      from: 1,
      periods: 3,
    },
    BreakerOpen: {
      section: 'throttled',
      what: 'the circuit breaker has paused the queue, because nothing could be started',
      metric: workerMetric(workerName, 'BreakerOpen', {
        statistic: 'Maximum',
        period: Duration.minutes(5),
      }),
      from: 1,
    },
    ...(maxInFlight === undefined
      ? {}
      : {
          InFlight: {
            section: 'throttled' as const,
            what: `90 % of the ${maxInFlight} executions that may be at work are taken`,
            metric: workerMetric(workerName, 'InFlight', {
              statistic: 'Maximum',
              period: Duration.minutes(5),
            }),
            from: Math.ceil(maxInFlight * 0.9),
            periods: 2,
          },
        }),
    ...(mostMessagesPerDay === undefined
      ? {}
      : {
          MessagesPerDay: {
            section: 'backlog' as const,
            what: `${mostMessagesPerDay} or more messages within a day: look at the bill`,
            metric: workerMetric(workerName, 'MessagesStarted', { period: Duration.days(1) }),
            from: mostMessagesPerDay,
          },
        }),
  };
}
