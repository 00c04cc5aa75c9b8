/** A valid envelope of the `latest` example type; overrides replace fields. */
export function deadlineEnvelope(overrides: Record<string, unknown> = {}) {
  return {
    messageId: 'msg-1',
    schemaVersion: 2,
    messageType: 'CaseDeadlineCalculationRequested',
    producer: 'case-service',
    occurredAt: '2026-01-01T10:15:30Z',
    idempotencyKey: 'case:CASE-123:deadline:v4',
    aggregateType: 'case',
    aggregateId: 'CASE-123',
    aggregateVersion: 4,
    correlationId: 'trace-1',
    payload: {
      caseId: 'CASE-123',
      stage: 'INVESTIGATION',
      effectiveAt: '2026-01-01T10:15:00Z',
      calendarDays: true,
    },
    ...overrides,
  };
}

/** A valid envelope of the `sequential` example type. */
export function stageEnvelope(version: number, overrides: Record<string, unknown> = {}) {
  return {
    messageId: `msg-stage-${version}`,
    schemaVersion: 1,
    messageType: 'CaseStageChanged',
    producer: 'case-service',
    occurredAt: '2026-01-01T10:15:30Z',
    idempotencyKey: `case:CASE-123:stage:v${version}`,
    aggregateType: 'case',
    aggregateId: 'CASE-123',
    aggregateVersion: version,
    payload: { caseId: 'CASE-123', stage: 'REVIEW' },
    ...overrides,
  };
}
