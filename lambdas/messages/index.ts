import type { AnyMessageDefinition } from '../core/message-type.ts';
import { answerGeneration } from './answer-generation.ts';
import { caseDeadline } from './case-deadline.ts';
import { caseNoteAdded } from './case-note-added.ts';
import { caseStageChanged } from './case-stage-changed.ts';
import { documentIngest } from './document-ingest.ts';
import { noticeDelivery } from './notice-delivery.ts';
import { paymentCapture } from './payment-capture.ts';

/** The message types of this deployment: examples, one a capability. Put your own in their place. */
export const messages: readonly AnyMessageDefinition[] = [
  caseStageChanged,
  caseDeadline,
  caseNoteAdded,
  paymentCapture,
  noticeDelivery,
  answerGeneration,
  documentIngest,
];
