/** What the services say of a deployed worker. Undefined: it could not be read. */
export interface Facts {
  readonly queue?: Readonly<Record<string, string>> | undefined;
  readonly dlq?: Readonly<Record<string, string>> | undefined;
  readonly table?:
    | {
        readonly DeletionProtectionEnabled?: boolean | undefined;
        readonly StreamSpecification?: { readonly StreamViewType?: string | undefined } | undefined;
      }
    | undefined;
  readonly ttl?:
    | { readonly TimeToLiveStatus?: string | undefined; readonly AttributeName?: string | undefined }
    | undefined;
  readonly backups?:
    | {
        readonly PointInTimeRecoveryDescription?:
          | { readonly PointInTimeRecoveryStatus?: string | undefined }
          | undefined;
      }
    | undefined;
  readonly machine?:
    | {
        readonly loggingConfiguration?:
          | { readonly level?: string | undefined; readonly includeExecutionData?: boolean | undefined }
          | undefined;
      }
    | undefined;
  readonly mapping?:
    | {
        readonly State?: string | undefined;
        readonly FunctionResponseTypes?: readonly string[] | undefined;
        readonly ScalingConfig?: { readonly MaximumConcurrency?: number | undefined } | undefined;
        readonly MaximumBatchingWindowInSeconds?: number | undefined;
      }
    | undefined;
  readonly starter?: { readonly Timeout?: number | undefined } | undefined;
}

export interface CheckLine {
  readonly line: string;
  readonly result: 'pass' | 'fail' | 'unknown';
  /** What was found, or how to show it. */
  readonly detail: string;
}

/** Lambda's advice: a batch that is retried inside the function must not come back meanwhile. */
const VISIBILITY_FACTOR = 6;
const MIN_RECEIVES = 5;

/** The production checklist. */
export function checkLines(facts: Facts): readonly CheckLine[] {
  return [
    ...queueLines(facts),
    ...sourceLines(facts),
    ...tableLines(facts),
    ...machineLines(facts),
    ...SHOWN_ELSEWHERE,
  ];
}

function queueLines({ queue, dlq, starter, mapping }: Facts): readonly CheckLine[] {
  const redrive: { deadLetterTargetArn?: string; maxReceiveCount?: string | number } = JSON.parse(
    queue?.RedrivePolicy ?? '{}',
  );
  const receives = Number(redrive.maxReceiveCount ?? 0);
  const visibility = Number(queue?.VisibilityTimeout);
  const least =
    starter?.Timeout === undefined
      ? undefined
      : VISIBILITY_FACTOR * starter.Timeout + (mapping?.MaximumBatchingWindowInSeconds ?? 0);
  return [
    line(
      'The queue has a dead-letter queue',
      queue && redrive.deadLetterTargetArn !== undefined,
      redrive.deadLetterTargetArn ?? 'none',
    ),
    line(
      `maxReceiveCount is at least ${MIN_RECEIVES}, so that throttling makes no dead letters`,
      queue && receives >= MIN_RECEIVES,
      String(receives),
    ),
    line(
      'The dead-letter queue keeps messages longer than the queue',
      queue && dlq && Number(dlq.MessageRetentionPeriod) > Number(queue.MessageRetentionPeriod),
      `${dlq?.MessageRetentionPeriod} s against ${queue?.MessageRetentionPeriod} s`,
    ),
    line(
      `The visibility time-out is ${VISIBILITY_FACTOR} times the starter's time-out and more`,
      queue && least !== undefined && visibility >= least,
      `${visibility} s against ${least} s`,
      queue === undefined || least === undefined,
    ),
    line(
      'The queue is encrypted',
      queue && (queue.SqsManagedSseEnabled === 'true' || queue.KmsMasterKeyId !== undefined),
      queue?.KmsMasterKeyId ?? 'SQS-managed',
    ),
    line(
      'The queue refuses plain HTTP',
      queue && (queue.Policy ?? '').includes('aws:SecureTransport'),
      'by its policy',
    ),
  ];
}

function sourceLines({ mapping }: Facts): readonly CheckLine[] {
  const concurrency = mapping?.ScalingConfig?.MaximumConcurrency;
  return [
    line('The event source is enabled', mapping && mapping.State === 'Enabled', mapping?.State ?? 'none'),
    line(
      'Partial batch responses are on',
      mapping && (mapping.FunctionResponseTypes ?? []).includes('ReportBatchItemFailures'),
      (mapping?.FunctionResponseTypes ?? []).join(', ') || 'off',
    ),
    line(
      'The starter has a maximum concurrency',
      mapping && concurrency !== undefined,
      String(concurrency ?? 'none'),
    ),
  ];
}

function tableLines({ table, ttl, backups }: Facts): readonly CheckLine[] {
  const recovery = backups?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus;
  const view = table?.StreamSpecification?.StreamViewType;
  return [
    line('The table streams old and new images', table && view === 'NEW_AND_OLD_IMAGES', view ?? 'no stream'),
    line(
      'The table is protected against deletion',
      table && table.DeletionProtectionEnabled === true,
      String(table?.DeletionProtectionEnabled ?? false),
    ),
    line(
      'Old rows expire by ttl',
      ttl && ttl.TimeToLiveStatus === 'ENABLED' && ttl.AttributeName === 'ttl',
      ttl?.TimeToLiveStatus ?? 'off',
    ),
    line('Point-in-time recovery is on', backups && recovery === 'ENABLED', recovery ?? 'off'),
  ];
}

function machineLines({ machine }: Facts): readonly CheckLine[] {
  const logging = machine?.loggingConfiguration;
  return [
    line(
      'The state machine logs',
      machine && logging?.level !== undefined && logging.level !== 'OFF',
      logging?.level ?? 'OFF',
    ),
    line(
      'Its logs hold no execution data',
      machine && logging?.includeExecutionData !== true,
      String(logging?.includeExecutionData ?? false),
    ),
  ];
}

/** @param holds undefined where a fact is missing */
function line(
  text: string,
  holds: boolean | undefined,
  found: string,
  missing = holds === undefined,
): CheckLine {
  if (missing)
    return { line: text, result: 'unknown', detail: 'could not be read: permission, or not offered here' };
  return { line: text, result: holds ? 'pass' : 'fail', detail: found };
}

const shown = (text: string, detail: string): CheckLine => ({ line: text, result: 'unknown', detail });

/** What no API can say, and how to show it. */
const SHOWN_ELSEWHERE: readonly CheckLine[] = [
  shown(
    'Idempotency keys are stable in the domain',
    'review the producers: the key names the work, never the sending',
  ),
  shown(
    'A key is committed once, whatever is delivered again',
    'npm test; and send one message twice: stepwell show KEY',
  ),
  shown(
    'A crash between commit and acknowledgement does no harm',
    'npm test (every AWS call is made to fail in seven ways)',
  ),
  shown(
    'A changed payload under a known key raises an alarm',
    'send one, then aws cloudwatch describe-alarms',
  ),
  shown(
    'The dead-letter queue has an owner and an alarm',
    'aws cloudwatch describe-alarms; docs/runbooks.md#dlq',
  ),
  shown('A redrive has been tried with a sample', 'stepwell dlq redrive --sample 1'),
  shown(
    'Concurrency follows from what the database bears',
    "compare the event source's maximum with the table's write rate",
  ),
  shown('Producers whose messages follow their state use an outbox', 'review the producers'),
  shown('Effects without idempotency keys have a person to ask', 'docs/runbooks.md#in-doubt'),
  shown('Schemas have versions, and old ones stay while messages may come', 'review lambdas/messages'),
  shown('Roles have only the actions they use', 'npm test; IAM Access Analyzer'),
];
