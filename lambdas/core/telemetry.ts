/** Every metric the worker emits, with its unit. */
export const METRICS = {
  MessagesStarted: 'Count',
  DuplicatesDropped: 'Count',
  HashMismatches: 'Count',
  InvalidMessages: 'Count',
  MessagesCompleted: 'Count',
  MessagesSuperseded: 'Count',
  BusinessAttempts: 'Count',
  RetryableFailures: 'Count',
  TerminalFailures: 'Count',
  Quarantined: 'Count',
  OpenCases: 'Count',
  EffectCalls: 'Count',
  EffectCacheHits: 'Count',
  EffectLatency: 'Milliseconds',
  EffectsInDoubt: 'Count',
  Parked: 'Count',
  OrderingGapSeconds: 'Seconds',
  CommitConflicts: 'Count',
  RoutedErrors: 'Count',
  EndToEndLatency: 'Milliseconds',
  CommitLatency: 'Milliseconds',
  ReceiveCount: 'Count',
  InFlight: 'Count',
  BreakerOpen: 'Count',
  Replays: 'Count',
  StartsThrottled: 'Count',
} as const;
export type MetricName = keyof typeof METRICS;

/** Fields of a log line. Never a payload, a body, a secret or an exception's text. */
export interface LogFields {
  readonly messageType?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly aggregateId?: string | undefined;
  readonly tenantId?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly traceparent?: string | undefined;
  readonly executionName?: string | undefined;
  readonly receiveCount?: number | undefined;
  readonly processingMs?: number | undefined;
  readonly dbTransactionMs?: number | undefined;
  readonly result?: string | undefined;
  readonly code?: string | undefined;
  readonly [field: string]: string | number | boolean | undefined;
}

/** What every line about a piece of work says of it. */
export const workFields = (
  work: Pick<LogFields, 'messageType' | 'tenantId' | 'correlationId' | 'traceparent'>,
  executionName: string,
): LogFields => ({
  messageType: work.messageType,
  tenantId: work.tenantId,
  correlationId: work.correlationId,
  traceparent: work.traceparent,
  executionName,
});

/** Where log lines and metrics go. */
export interface Telemetry {
  info(message: string, fields: LogFields): void;
  warn(message: string, fields: LogFields): void;
  error(message: string, fields: LogFields): void;
  metric(name: MetricName, value: number, dimensions?: Readonly<Record<string, string>>): void;
  /** Writes out what is buffered. Called at the end of an invocation. */
  flush(): void;
}

/** Drops everything. */
export const SILENT: Telemetry = {
  info() {},
  warn() {},
  error() {},
  metric() {},
  flush() {},
};

/** Failure codes as a metric dimension: those a type declares, and OTHER, so that a typo makes no new metric. */
export const codeDimension = (code: string, declared: readonly string[]): string =>
  declared.includes(code) ? code : 'OTHER';
