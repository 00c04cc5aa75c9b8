import { secondsOf } from '../workflow-worker-settings.ts';
import type { Collector } from './collect.ts';

const DAY_SECONDS = 86_400;
/** For so long Step Functions keeps the name of a closed execution. */
const NAME_LIFE_DAYS = 90;
/** For so long an execution that failed can be redriven. */
const REPLAY_WINDOW_DAYS = 14;

/** Time-outs, and the times for which things are kept: each by itself, and against the others. */
export function checkTimes({ props, settings, expect, whole }: Collector): void {
  const { inboxRetentionDays } = settings;
  const execution = secondsOf(settings.executionTimeout);
  const resolution = secondsOf(settings.resolutionTimeout);
  const step = secondsOf(settings.stepTimeout);
  const queue = secondsOf(settings.queueRetention);
  const dlq = secondsOf(settings.dlqRetention);
  whole(
    'executionTimeout',
    execution,
    300,
    365 * DAY_SECONDS,
    'An execution lives at most a year; the unit is seconds',
  );
  whole(
    'stepTimeout',
    step,
    5,
    900,
    'One call that Plan or Commit makes may take 5 seconds; the unit is seconds',
  );
  whole('inboxRetentionDays', inboxRetentionDays, 1, 3_650, 'The unit is days');
  whole(
    'outboxRetentionDays',
    settings.outboxRetentionDays,
    2,
    365,
    'A stream record may be a day late; the unit is days',
  );
  expect(
    Number.isInteger(resolution) && resolution >= 60 && resolution < execution,
    'resolutionTimeout',
    `must be whole seconds from 60 s to below executionTimeout (${execution} s), is ${resolution} s`,
    'Lower it, or raise executionTimeout',
  );
  expect(
    Number.isInteger(queue) && queue >= 60 && queue < dlq,
    'queueRetention',
    `must be whole seconds from 60 s to below dlqRetention (${dlq} s), is ${queue} s: a moved message keeps its age and would be gone at once`,
    'Lower it',
  );
  expect(
    Number.isInteger(dlq) && dlq <= 14 * DAY_SECONDS,
    'dlqRetention',
    `must be whole seconds, at most 14 days, is ${dlq} s`,
    'SQS keeps no message longer',
  );
  expect(
    !(step >= execution),
    'stepTimeout',
    `must be below executionTimeout (${execution} s), is ${step} s`,
    'Lower it, or raise executionTimeout',
  );
  const leastPayload = Math.ceil(execution / DAY_SECONDS) + REPLAY_WINDOW_DAYS + 2;
  whole(
    'payloadRetentionDays',
    props.payloadRetentionDays,
    leastPayload,
    3_650,
    `A payload must be there while its execution lives and may be redriven: executionTimeout, ${REPLAY_WINDOW_DAYS} days and 2 for the expiry`,
  );
  const needed = Math.max(NAME_LIFE_DAYS, Math.ceil((queue + dlq) / DAY_SECONDS) + REPLAY_WINDOW_DAYS);
  expect(
    inboxRetentionDays >= needed,
    'inboxRetentionDays',
    `must be at least ${needed}: the ${NAME_LIFE_DAYS} days for which a closed execution’s name is taken, and more than queue, dead-letter queue and replay window (${REPLAY_WINDOW_DAYS} days) together; is ${inboxRetentionDays}. A key replayed after its row has expired would be worked on again`,
    `Set ${needed} or more`,
  );
  for (const message of props.messages) {
    const gap = message.gapTimeoutSeconds ?? DAY_SECONDS;
    const waits = message.ordering === 'sequential' || message.ordering === 'arrival';
    expect(
      !waits || gap < execution,
      'executionTimeout',
      `must exceed the gapTimeoutSeconds of ${message.type} (${gap} s), is ${execution} s: the execution would time out before the gap is reported`,
      'Raise it, or lower gapTimeoutSeconds',
    );
  }
  for (const [name, { timeout }] of Object.entries(props.providerSettings ?? {})) {
    const seconds = timeout === undefined ? undefined : secondsOf(timeout);
    whole(
      `providerSettings.${name}.timeout`,
      seconds,
      5,
      900,
      'Lambda allows at most 900; the unit is seconds',
    );
  }
}
