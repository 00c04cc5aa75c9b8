import * as v from 'valibot';
import { TerminalFailure } from '../core/errors.ts';
import { derivedKey } from '../core/identity.ts';
import { defineMessage } from '../core/message-type.ts';

const DAY_MILLIS = 24 * 60 * 60 * 1000;
/** Days that a stage may take, by the rules of the example's office. */
const STAGE_DAYS: Readonly<Record<string, number>> = {
  INTAKE: 5,
  INVESTIGATION: 30,
  REVIEW: 10,
  DECISION: 14,
};

const instant = v.pipe(v.string(), v.isoTimestamp());

/** A case's deadline is to be worked out. Only the newest request counts: an older one is superseded. */
export const caseDeadline = defineMessage({
  type: 'CaseDeadlineCalculationRequested',
  schemas: {
    1: v.object({ caseId: v.string(), stage: v.string(), effectiveAt: instant }),
    2: v.object({ caseId: v.string(), stage: v.string(), effectiveAt: instant, calendarDays: v.boolean() }),
  },
  upcast: { 1: (payload: unknown) => ({ ...Object(payload), calendarDays: true }) },
  ordering: 'latest',
  attempts: { max: 5, baseSeconds: 2, capSeconds: 300 },
  failureCodes: ['STAGE_UNKNOWN'],
  plan({ envelope, payload }) {
    const days = STAGE_DAYS[payload.stage];
    if (days === undefined) throw new TerminalFailure('STAGE_UNKNOWN', 'this stage has no deadline rule');
    const length = payload.calendarDays ? days : Math.ceil((days * 7) / 5);
    const deadlineAt = new Date(Date.parse(payload.effectiveAt) + length * DAY_MILLIS);
    return {
      set: { deadlineAt, deadlineStage: payload.stage },
      events: [
        {
          messageType: 'CaseDeadlineSet',
          idempotencyKey: derivedKey(envelope.idempotencyKey, 'set'),
          aggregateType: envelope.aggregateType,
          aggregateId: envelope.aggregateId,
          payload: { caseId: payload.caseId, deadlineAt },
        },
      ],
      resultRef: `case/${envelope.aggregateId}/deadline`,
    };
  },
});
