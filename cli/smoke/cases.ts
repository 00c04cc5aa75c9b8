/** A message of the smoke run, and what has to become of it. */
export interface SmokeCase {
  readonly name: string;
  readonly body: string;
  /** Stands in the body, and in whatever the worker makes of it. */
  readonly marker: string;
  readonly aggregateId: string;
  /** The message's key; absent where the body has none that can be read. */
  readonly key?: string;
  readonly expects: string;
  /** It is sent once the inbox knows this key, with this status where one is named. */
  readonly after?: { readonly key: string; readonly status?: 'COMPLETED' };
}

const EFFECTIVE_AT = '2026-01-01T10:15:00Z';

/** The messages of a run: one of each outcome, of the example types that call nobody. */
export function smokeCases(
  run: string,
  at: string,
  { effects, fifo }: { readonly effects: boolean; readonly fifo: boolean },
): readonly SmokeCase[] {
  const marker = (name: string) => `smoke-${run}-${name}`;
  const key = (name: string) => `smoke:${run}:${name}`;
  const envelope = (name: string, aggregateId: string, fields: Readonly<Record<string, unknown>>) => ({
    messageId: marker(name),
    producer: 'stepwell-smoke',
    occurredAt: at,
    aggregateType: 'case',
    aggregateId,
    idempotencyKey: key(name),
    ...fields,
  });
  const [dated, staged, failing, noted] = aggregatesOf(run);
  const deadline = (name: string, aggregateId: string, version: number, fields = {}, payload = {}) =>
    envelope(name, aggregateId, {
      schemaVersion: 2,
      messageType: 'CaseDeadlineCalculationRequested',
      aggregateVersion: version,
      payload: {
        caseId: aggregateId,
        stage: 'REVIEW',
        effectiveAt: EFFECTIVE_AT,
        calendarDays: true,
        ...payload,
      },
      ...fields,
    });
  const stage = (version: number, to: string) =>
    envelope(`stage-${version}`, staged, {
      schemaVersion: 1,
      messageType: 'CaseStageChanged',
      aggregateVersion: version,
      payload: { caseId: staged, stage: to },
    });
  const message = (
    name: string,
    sent: { readonly messageId: string; readonly idempotencyKey: string; readonly aggregateId: string },
    expects: string,
    after?: SmokeCase['after'],
  ): SmokeCase => ({
    name,
    body: JSON.stringify(sent),
    marker: sent.messageId,
    aggregateId: sent.aggregateId,
    key: sent.idempotencyKey,
    expects,
    ...(after === undefined ? {} : { after }),
  });

  const plain = deadline('deadline', dated, 2);
  const committed = { key: plain.idempotencyKey, status: 'COMPLETED' } as const;
  const other = deadline('deadline', dated, 2, { messageId: marker('other') }, { stage: 'INTAKE' });
  const later = stage(2, 'REVIEW');
  const note = envelope('note', noted, {
    schemaVersion: 1,
    messageType: 'CaseNoteAdded',
    payload: { noteId: marker('note'), category: 'smoke' },
  });
  const payment = envelope('payment', `SMOKE-${run}`, {
    schemaVersion: 1,
    messageType: 'PaymentCaptureRequested',
    aggregateType: 'payment',
    payload: { paymentId: `SMOKE-${run}`, amount: 1, currency: 'EUR' },
  });
  return [
    message('a message', plain, 'COMPLETED'),
    message('the same again', plain, DUPLICATE, committed),
    message('same key, other content', other, 'REJECTED IDEMPOTENCY_HASH_MISMATCH', committed),
    message('an out-of-date version', deadline('older', dated, 1), 'SUPERSEDED', committed),
    message('version 2, before version 1', later, 'COMPLETED'),
    message('version 1, after it', stage(1, 'INTAKE'), 'COMPLETED', { key: later.idempotencyKey }),
    {
      name: 'invalid JSON',
      body: `{"messageId": "${marker('invalid')}"`,
      marker: marker('invalid'),
      aggregateId: `SMOKE-${run}`,
      expects: 'REJECTED INVALID_ENVELOPE',
    },
    message(
      'a failure for good',
      deadline('failure', failing, 1, {}, { stage: 'NO_SUCH_STAGE' }),
      'QUARANTINED STAGE_UNKNOWN',
    ),
    ...(fifo ? [message('a note in order of arrival', note, 'COMPLETED')] : []),
    ...(effects ? [message('a payment of one cent', payment, 'COMPLETED')] : []),
  ];
}

/** What a duplicate comes to: it leaves no trace, which is what is looked for. */
export const DUPLICATE = 'DUPLICATE';

/** Ids of the cases that a run works on. */
export const aggregatesOf = (run: string) =>
  [`SMOKE-${run}-A`, `SMOKE-${run}-B`, `SMOKE-${run}-C`, `SMOKE-${run}-D`] as const;
