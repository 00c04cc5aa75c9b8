import { Duration } from 'aws-cdk-lib';
import type { WorkerAlarmsProps } from '../worker-alarms.ts';
import { workerMetric } from '../worker-metrics.ts';
import { type AlarmRules, MINUTE } from './rule.ts';

/** Alarms on messages: waiting, given up, set aside. */
export function queueRules(props: WorkerAlarmsProps): AlarmRules {
  const { worker, outbox, backlogMessages = 1_000, oldestMessage = Duration.minutes(15) } = props;
  const visible = { period: MINUTE, statistic: 'Maximum' };
  return {
    ...(outbox === undefined
      ? {}
      : {
          Unpublished: {
            section: 'stuck' as const,
            what: 'events could not be published; their rows are in the table',
            metric: outbox.deadLetterQueue.metricApproximateNumberOfMessagesVisible(visible),
            from: 1,
          },
        }),
    DeadLetters: {
      section: 'dlq',
      what: 'messages that could not be read or started lie in the dead-letter queue',
      metric: worker.deadLetterQueue.metricApproximateNumberOfMessagesVisible(visible),
      from: 1,
    },
    QuarantineOpen: {
      section: 'quarantine',
      what: 'work has failed for good and waits for a person; the queue is the notice, the table has the case',
      metric: worker.quarantineQueue.metricApproximateNumberOfMessagesVisible(visible),
      from: 1,
    },
    CasesOpen: {
      section: 'quarantine',
      what: 'cases in the table are open, whatever has become of their notices',
      // Each sweep counts today, yesterday and one older day in turn: eight hours see all 90 days.
      metric: workerMetric(worker.workerName, 'OpenCases', {
        statistic: 'Maximum',
        period: Duration.hours(8),
      }),
      from: 1,
    },
    StreamFailures: {
      section: 'stuck',
      what: 'changes of the table could not be dealt with; executions that wait are woken late',
      metric: worker.streamFailureQueue.metricApproximateNumberOfMessagesVisible(visible),
      from: 1,
    },
    Backlog: {
      section: 'backlog',
      what: `${backlogMessages} or more messages have waited for 5 minutes`,
      metric: worker.queue.metricApproximateNumberOfMessagesVisible(visible),
      from: backlogMessages,
      periods: 5,
    },
    OldestMessage: {
      section: 'backlog',
      what: `the oldest message is ${oldestMessage.toMinutes()} minutes old or more`,
      metric: worker.queue.metricApproximateAgeOfOldestMessage(visible),
      from: oldestMessage.toSeconds(),
      periods: 3,
    },
  };
}
