import * as v from 'valibot';
import { TerminalFailure } from '../core/errors.ts';
import { defineMessage } from '../core/message-type.ts';

const STAGES = ['INTAKE', 'INVESTIGATION', 'REVIEW', 'DECISION', 'CLOSED'] as const;

/** A case has moved to another stage. Every stage counts, so none may be skipped or applied out of order. */
export const caseStageChanged = defineMessage({
  type: 'CaseStageChanged',
  schemas: { 1: v.object({ caseId: v.string(), stage: v.picklist(STAGES) }) },
  ordering: 'sequential',
  failureCodes: ['CASE_CLOSED'],
  plan({ envelope, payload, aggregate, now }) {
    if (aggregate?.attributes.stage === 'CLOSED') {
      throw new TerminalFailure('CASE_CLOSED', 'a closed case changes its stage no more');
    }
    return {
      set: { stage: payload.stage, stageChangedAt: now },
      resultRef: `case/${envelope.aggregateId}/stage/${payload.stage}`,
    };
  },
});
