import { describe, expect, it } from 'vitest';
import { checkLines, type Facts } from '../../../cli/doctor-checks.ts';

const GOOD = {
  queue: {
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: 'arn:dlq', maxReceiveCount: '100' }),
    MessageRetentionPeriod: '345600',
    VisibilityTimeout: '180',
    SqsManagedSseEnabled: 'true',
    Policy: '{"Condition":{"Bool":{"aws:SecureTransport":"false"}}}',
  },
  dlq: { MessageRetentionPeriod: '1209600' },
  table: {
    DeletionProtectionEnabled: true,
    StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
  },
  ttl: { TimeToLiveStatus: 'ENABLED', AttributeName: 'ttl' },
  backups: { PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'ENABLED' } },
  machine: { loggingConfiguration: { level: 'ERROR', includeExecutionData: false } },
  mapping: {
    State: 'Enabled',
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    ScalingConfig: { MaximumConcurrency: 5 },
  },
  starter: { Timeout: 30 },
} satisfies Facts;

/** One defect for each line that can be checked. */
const DEFECTS: readonly (readonly [string, Facts])[] = [
  [
    'The queue has a dead-letter queue',
    { ...GOOD, queue: { ...GOOD.queue, RedrivePolicy: '{"maxReceiveCount":100}' } },
  ],
  [
    'maxReceiveCount is at least',
    { ...GOOD, queue: { ...GOOD.queue, RedrivePolicy: '{"deadLetterTargetArn":"a","maxReceiveCount":3}' } },
  ],
  ['The dead-letter queue keeps messages longer', { ...GOOD, dlq: { MessageRetentionPeriod: '345600' } }],
  ['The visibility time-out is', { ...GOOD, starter: { Timeout: 31 } }],
  ['The queue is encrypted', { ...GOOD, queue: { ...GOOD.queue, SqsManagedSseEnabled: 'false' } }],
  ['The queue refuses plain HTTP', { ...GOOD, queue: { ...GOOD.queue, Policy: '{}' } }],
  ['The event source is enabled', { ...GOOD, mapping: { ...GOOD.mapping, State: 'Disabled' } }],
  ['Partial batch responses are on', { ...GOOD, mapping: { ...GOOD.mapping, FunctionResponseTypes: [] } }],
  ['The starter has a maximum concurrency', { ...GOOD, mapping: { ...GOOD.mapping, ScalingConfig: {} } }],
  ['The table streams old and new images', { ...GOOD, table: { DeletionProtectionEnabled: true } }],
  ['The table is protected', { ...GOOD, table: { ...GOOD.table, DeletionProtectionEnabled: false } }],
  ['Old rows expire by ttl', { ...GOOD, ttl: { TimeToLiveStatus: 'DISABLED' } }],
  ['Point-in-time recovery is on', { ...GOOD, backups: {} }],
  ['The state machine logs', { ...GOOD, machine: { loggingConfiguration: { level: 'OFF' } } }],
  [
    'Its logs hold no execution data',
    { ...GOOD, machine: { loggingConfiguration: { level: 'ALL', includeExecutionData: true } } },
  ],
];

const failing = (facts: Facts) => checkLines(facts).filter(({ result }) => result === 'fail');

describe('the production checklist', () => {
  it('has no failing line for a worker as it should be', () => {
    expect(failing(GOOD)).toEqual([]);
  });

  it.each(DEFECTS)('fails the line "%s" and no other when it does not hold', (line, facts) => {
    expect(failing(facts).map((entry) => entry.line)).toEqual([expect.stringContaining(line)]);
  });

  it('has a defect here for every line that can be checked', () => {
    expect(checkLines(GOOD).filter(({ result }) => result === 'pass')).toHaveLength(DEFECTS.length);
  });

  it('says of nothing that it fails when nothing can be read', () => {
    expect(checkLines({}).every(({ result }) => result === 'unknown')).toBe(true);
  });
});
