import { Duration, Stack } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { describe, expect, it } from 'vitest';
import { defineMessage } from '../../lambdas/core/message-type.ts';
import { caseDeadline } from '../../lambdas/messages/case-deadline.ts';
import type { WorkflowWorkerProps } from '../../lib/constructs/workflow-worker-props.ts';
import { quickApp, synthesise } from '../helpers/worker-template.ts';

const refusal = (props: Partial<WorkflowWorkerProps>): string => {
  try {
    synthesise(props);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return 'not refused';
};

const slow = defineMessage({
  ...caseDeadline,
  type: 'Slow',
  ordering: 'sequential',
  gapTimeoutSeconds: 7_200,
});

const CASES: readonly (readonly [string, Partial<WorkflowWorkerProps>, RegExp])[] = [
  [
    'a visibility time-out shorter than six times the function’s',
    { visibilityTimeout: Duration.seconds(30), functionTimeout: Duration.seconds(60) },
    /visibilityTimeout: must be at least .* 6 × 60 s \+ 0 s = 360 s, is 30 s/,
  ],
  [
    'a receive count that overload uses up',
    { maxReceiveCount: 4 },
    /maxReceiveCount: .* from 5 to 1000, is 4/,
  ],
  [
    'a FIFO queue with a batching window',
    { fifo: true, maxBatchingWindow: Duration.seconds(1) },
    /maxBatchingWindow: .*FIFO/,
  ],
  ['a large batch of a FIFO queue', { fifo: true, batchSize: 11 }, /batchSize: .* from 1 to 10, is 11/],
  ['a large batch without a window', { batchSize: 11 }, /maxBatchingWindow: must be at least 1 second/],
  ['a concurrency below two', { maxConcurrency: 1 }, /maxConcurrency: .* from 2/],
  [
    'a reserved concurrency below the poller’s',
    { maxConcurrency: 20, reservedConcurrency: 19 },
    /reservedConcurrency: .* from 20 /,
  ],
  [
    'an inbox that forgets while a name is taken',
    { inboxRetentionDays: 89 },
    /inboxRetentionDays: must be at least 90/,
  ],
  [
    'a dead-letter queue that keeps no longer than the queue',
    { queueRetention: Duration.days(14) },
    /queueRetention: .* below dlqRetention/,
  ],
  [
    'an execution that ends before a gap is reported',
    { messages: [slow], executionTimeout: Duration.hours(1), resolutionTimeout: Duration.minutes(5) },
    /executionTimeout: must exceed the gapTimeoutSeconds of Slow/,
  ],
  [
    'a relative module path',
    { messagesEntry: 'lambdas/messages/index.ts' },
    /messagesEntry: must be the absolute path/,
  ],
  ['two types of one name', { messages: [caseDeadline, caseDeadline] }, /messages: .* is defined twice/],
  [
    'settings of a provider that is none',
    { providerSettings: { Nobody: {} } },
    /providerSettings: .*Nobody is none/,
  ],
  ['subnets without a VPC', { vpcSubnets: {} }, /vpc: is required/],
  ['an invalid name', { workerName: 'a b' }, /workerName: must match/],
];

describe('WorkflowWorker’s refusals', () => {
  it.each(CASES)('name rule and remedy of %s', (_name, props, message) => {
    expect(refusal(props)).toMatch(message);
  });

  it('come all at once', () => {
    const message = refusal({
      visibilityTimeout: Duration.seconds(30),
      maxReceiveCount: 4,
      inboxRetentionDays: 1,
      maxConcurrency: 1,
    });

    expect(message).toContain('4 faults');
    for (const prop of ['visibilityTimeout', 'maxReceiveCount', 'inboxRetentionDays', 'maxConcurrency']) {
      expect(message).toContain(`- ${prop}: `);
    }
  });

  it('hold a queue of the same app to the same rule', () => {
    const stack = new Stack(quickApp(), 'Other');
    const deadLetterQueue = new Queue(stack, 'Dead');
    const queue = new Queue(stack, 'Queue', {
      visibilityTimeout: Duration.seconds(60),
      deadLetterQueue: { queue: deadLetterQueue, maxReceiveCount: 100 },
    });

    expect(refusal({ queue })).toMatch(
      /queue: must have a visibility time-out of at least .* = 180 s, has 60 s/,
    );
    expect(refusal({ queue, fifo: true })).toMatch(/fifo: has no effect on an imported queue/);
  });
});
