import { Duration, Stack } from 'aws-cdk-lib';
import { Table } from 'aws-cdk-lib/aws-dynamodb';
import { LayerVersion } from 'aws-cdk-lib/aws-lambda';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { describe, expect, it } from 'vitest';
import { defineMessage } from '../../lambdas/core/message-type.ts';
import { defineProvider } from '../../lambdas/core/provider.ts';
import { caseDeadline } from '../../lambdas/messages/case-deadline.ts';
import type { ProviderSettings, WorkflowWorkerProps } from '../../lib/constructs/workflow-worker-props.ts';
import { MESSAGES_ENTRY, quickApp, synthesise } from '../helpers/worker-template.ts';

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

const elsewhere = new Stack(quickApp(), 'Elsewhere');
const imported = (name: string) =>
  Queue.fromQueueArn(
    elsewhere,
    `${name}${elsewhere.node.children.length}`,
    `arn:aws:sqs:eu-west-1:123456789012:${name}`,
  );
const QUEUE_ELSEWHERE = imported('orders');
const TABLE_ELSEWHERE = Table.fromTableName(elsewhere, 'Cases', 'cases');
const LAYER = LayerVersion.fromLayerVersionArn(
  elsewhere,
  'Layer',
  'arn:aws:lambda:eu-west-1:123456789012:layer:otel:1',
);
const bank = defineProvider({ name: 'Bank', operations: {} });
const withBank = (own: ProviderSettings): Partial<WorkflowWorkerProps> => ({
  providers: [bank],
  providersEntry: MESSAGES_ENTRY,
  providerSettings: { Bank: own },
});
/** What a caller without a type checker may pass. */
const wrong = (word: string) => JSON.parse(JSON.stringify(word));

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
    'an inbox that remembers for ever',
    { inboxRetentionDays: 4_000 },
    /inboxRetentionDays: .* from 1 to 3650, is 4000/,
  ],
  [
    'props that say nothing to an imported queue',
    {
      queue: QUEUE_ELSEWHERE,
      deadLetterQueue: imported('dead'),
      visibilityTimeout: Duration.hours(1),
      queueRetention: Duration.days(1),
      dlqRetention: Duration.days(2),
    },
    /visibilityTimeout: has no effect[\s\S]*queueRetention: has no effect[\s\S]*dlqRetention: has no effect/,
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
  [
    'a profile that is none',
    { profile: wrong('prod') },
    /profile: must be production or development, is prod/,
  ],
  [
    'a place for invalid messages that is none',
    { invalidMessages: wrong('bin') },
    /invalidMessages: must be dlq or quarantine, is bin/,
  ],
  ['an empty release', { release: '' }, /release: must have 1 to 100 characters/],
  [
    'an aggregate’s table without a key',
    { aggregates: { Case: { table: TABLE_ELSEWHERE, key: {}, versionAttribute: 'v' } } },
    /aggregates: .*Case\.key must name one or two attributes/,
  ],
  ['providers without their module', { providers: [bank] }, /providersEntry: is required with providers/],
  [
    'two providers of one name',
    { providers: [bank, bank], providersEntry: MESSAGES_ENTRY },
    /providers: must have names of their own, Bank is there twice/,
  ],
  [
    'an environment of sources that are not there',
    { sourcesEnvironment: { SECRET: 's' } },
    /sourcesEnvironment: is for sources, of which there are none/,
  ],
  [
    'an environment that Lambda does not take',
    { sourcesEntry: MESSAGES_ENTRY, sourcesEnvironment: { TEXT: 'x'.repeat(2_048) } },
    /sourcesEnvironment: must have at most 2048 bytes, has 2052/,
  ],
  [
    'variables that are Lambda’s',
    { telemetry: { environment: { AWS_REGION: 'x', 'a-b': 'y' } } },
    /telemetry\.environment: .*has AWS_REGION, a-b/,
  ],
  [
    'a sixth layer',
    { telemetry: { layers: Array.from({ length: 6 }, () => LAYER) } },
    /telemetry\.layers: must be at most 5/,
  ],
  [
    'a wrapper that is no path',
    { telemetry: { execWrapper: 'otel-handler' } },
    /telemetry\.execWrapper: must be an absolute path, is otel-handler/,
  ],
  [
    'a provider with memory that Lambda does not have',
    withBank({ memorySize: 64 }),
    /providerSettings\.Bank\.memorySize: .* from 128 to 10240, is 64/,
  ],
  [
    'a provider that may never run',
    withBank({ reservedConcurrency: 0 }),
    /providerSettings\.Bank\.reservedConcurrency: .* from 1 to 100000, is 0/,
  ],
  [
    'a provider in a VPC that is not there',
    withBank({ inVpc: true }),
    /providerSettings\.Bank\.inVpc: needs the worker’s vpc/,
  ],
  [
    'a provider’s environment that Lambda does not take',
    withBank({ environment: { URL: 'x'.repeat(3_000) } }),
    /providerSettings\.Bank\.environment: must have at most 2048 bytes/,
  ],
  [
    'a provider that runs for too long',
    withBank({ timeout: Duration.minutes(16) }),
    /providerSettings\.Bank\.timeout: .* from 5 to 900, is 960/,
  ],
  [
    'a function without time',
    { functionTimeout: Duration.seconds(0) },
    /functionTimeout: .* from 1 to 900, is 0/,
  ],
  [
    'a window that Lambda does not take',
    { batchSize: 100, maxBatchingWindow: Duration.seconds(301) },
    /maxBatchingWindow: .* from 0 to 300, is 301/,
  ],
  ['a fraction of a message', { batchSize: 2.5 }, /batchSize: .* is 2\.5/],
  ['no number', { maxConcurrency: Number.NaN }, /maxConcurrency: .* is NaN/],
  ['a limit of nothing', { maxInFlight: 0 }, /maxInFlight: .* from 1 to 1000000, is 0/],
  [
    'an invalid message that SQS would move first',
    { maxReceiveCount: 5, invalidReceives: 5 },
    /invalidReceives: .* from 1 to 4, is 5/,
  ],
  [
    'a visibility time-out that SQS does not take',
    { visibilityTimeout: Duration.hours(13) },
    /visibilityTimeout: must be whole seconds, at most 12 hours, is 46800 s/,
  ],
  [
    'fractions of a second',
    { visibilityTimeout: Duration.millis(200_500), functionTimeout: Duration.millis(30_500) },
    /functionTimeout: .* is 30\.5[\s\S]*visibilityTimeout: must be whole seconds, .* is 200\.5 s/,
  ],
  [
    'an execution of a minute',
    { executionTimeout: Duration.minutes(1), resolutionTimeout: Duration.seconds(59) },
    /executionTimeout: .* from 300 to 31536000, is 60[\s\S]*resolutionTimeout: must be whole seconds from 60 s to below/,
  ],
  [
    'a resolution that outlives its execution',
    { resolutionTimeout: Duration.days(7) },
    /resolutionTimeout: .* below executionTimeout \(604800 s\), is 604800 s/,
  ],
  ['a step of a second', { stepTimeout: Duration.seconds(1) }, /stepTimeout: .* from 5 to 900, is 1/],
  [
    'a step that outlives its execution',
    {
      stepTimeout: Duration.seconds(300),
      executionTimeout: Duration.seconds(300),
      resolutionTimeout: Duration.seconds(60),
    },
    /stepTimeout: must be below executionTimeout \(300 s\), is 300 s/,
  ],
  ['an outbox of a day', { outboxRetentionDays: 1 }, /outboxRetentionDays: .* from 2 to 365, is 1/],
  [
    'payloads that a replay would miss',
    { payloadRetentionDays: 22 },
    /payloadRetentionDays: .* from 23 to 3650, is 22/,
  ],
  [
    'dead letters that SQS does not keep',
    { dlqRetention: Duration.days(15) },
    /dlqRetention: must be whole seconds, at most 14 days, is 1296000 s/,
  ],
  [
    'a dead-letter queue of no queue',
    { deadLetterQueue: QUEUE_ELSEWHERE },
    /deadLetterQueue: belongs to an imported queue/,
  ],
  [
    'a queue without its dead-letter queue',
    { queue: QUEUE_ELSEWHERE },
    /deadLetterQueue: is required with an imported queue/,
  ],
  [
    'a dead-letter queue of the other kind',
    { queue: QUEUE_ELSEWHERE, deadLetterQueue: imported('dead.fifo') },
    /deadLetterQueue: must be of the queue’s own kind/,
  ],
  [
    'a queue that is its own dead-letter queue',
    { queue: QUEUE_ELSEWHERE, deadLetterQueue: imported('orders') },
    /deadLetterQueue: must be another queue than queue/,
  ],
  [
    'a table without a stream',
    { table: TABLE_ELSEWHERE },
    /table: must have a stream with new and old images/,
  ],
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
});
