import * as v from 'valibot';
import { httpJsonProvider } from './http-json.ts';

/**
 * Delivers notices. The provider knows neither idempotency keys nor a way to ask: a call that gave no clear answer is
 * never repeated, and waits for a person.
 */
export const notices = httpJsonProvider({
  name: 'Notices',
  operations: {
    deliver: {
      path: '/notices',
      idempotent: false,
      schema: v.object({ caseId: v.string(), recipient: v.string(), template: v.string() }),
      response: v.looseObject({ noticeId: v.string() }),
      reference: 'noticeId',
    },
  },
});

/** What its function carries. */
export const providers = [notices];
