import { LEAST_RECEIVES, secondsOf, VISIBILITY_FACTOR } from '../workflow-worker-settings.ts';
import type { Collector } from './collect.ts';

/** How messages are received, and how many are at work. */
export function checkQueue({ props, settings, expect, whole }: Collector): void {
  const { fifo, batchSize, leastVisibility } = settings;
  const window = secondsOf(settings.maxBatchingWindow);
  const timeout = secondsOf(settings.functionTimeout);
  whole('functionTimeout', timeout, 1, 900, 'Lambda allows no other; the unit is seconds');
  whole('maxBatchingWindow', window, 0, 300, 'Lambda allows no other; the unit is seconds');
  whole(
    'batchSize',
    batchSize,
    1,
    fifo ? 10 : 10_000,
    `Lambda allows no other for ${fifo ? 'FIFO' : 'standard'} queues`,
  );
  expect(
    !fifo || window === 0,
    'maxBatchingWindow',
    'must not be set on a FIFO queue: Lambda refuses it',
    'Leave it out',
  );
  expect(
    fifo || batchSize <= 10 || window >= 1,
    'maxBatchingWindow',
    'must be at least 1 second for batches over 10',
    'Set it, or lower batchSize',
  );
  const visibility = secondsOf(settings.visibilityTimeout);
  expect(
    props.queue !== undefined || visibility >= leastVisibility,
    'visibilityTimeout',
    `must be at least ${VISIBILITY_FACTOR} × functionTimeout + maxBatchingWindow = ${VISIBILITY_FACTOR} × ${timeout} s + ${window} s = ${leastVisibility} s, is ${visibility} s: messages would come back while they are worked on`,
    'Leave it out, and it is derived',
  );
  expect(
    Number.isInteger(visibility) && visibility <= 43_200,
    'visibilityTimeout',
    `must be whole seconds, at most 12 hours, is ${visibility} s`,
    'Lower functionTimeout or maxBatchingWindow, or set it in whole seconds',
  );
  whole(
    'maxReceiveCount',
    settings.maxReceiveCount,
    LEAST_RECEIVES,
    1_000,
    `Overload counts as receives: below ${LEAST_RECEIVES} it fills the dead-letter queue`,
  );
  whole(
    'invalidReceives',
    settings.invalidReceives,
    1,
    settings.maxReceiveCount - 1,
    'SQS would move the message first, without the reason',
  );
  whole('maxConcurrency', settings.maxConcurrency, 2, 1_000, 'Lambda allows no other');
  whole(
    'reservedConcurrency',
    props.reservedConcurrency,
    settings.maxConcurrency,
    100_000,
    'Below maxConcurrency the poller is throttled and receives are burnt',
  );
  whole('maxInFlight', props.maxInFlight, 1, 1_000_000, 'Step Functions allows 1,000,000 open executions');
  expect(
    settings.invalidMessages === 'dlq' || settings.invalidMessages === 'quarantine',
    'invalidMessages',
    `must be dlq or quarantine, is ${settings.invalidMessages}`,
    'Correct the word',
  );
}
