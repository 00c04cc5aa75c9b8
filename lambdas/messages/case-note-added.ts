import * as v from 'valibot';
import { defineMessage } from '../core/message-type.ts';

/**
 * A note was added to a case by a producer that counts no versions. On a FIFO queue, grouped by case, the starter
 * numbers the notes in the order in which they arrive, and they are applied in that order.
 */
export const caseNoteAdded = defineMessage({
  type: 'CaseNoteAdded',
  schemas: { 1: v.object({ noteId: v.string(), category: v.string() }) },
  ordering: 'arrival',
  plan({ payload, aggregate }) {
    const known = aggregate?.attributes.noteIds;
    const noteIds = Array.isArray(known) ? known : [];
    return { set: { noteIds: [...noteIds, payload.noteId], lastNoteCategory: payload.category } };
  },
});
