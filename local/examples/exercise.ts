import * as v from 'valibot';
import { defineMessage } from '../../lambdas/core/message-type.ts';

/** Where the exercise's messages go, and how often SQS hands one out before it is a dead letter. */
export const EXERCISE_QUEUE = { queueName: 'exercise', maxReceiveCount: 3 } as const;

/** The exercise's handler: it throws, on purpose, for a payload that says `gagal` ("failed"). */
export const documentExercise = defineMessage({
  type: 'DocumentExercise',
  schemas: { 1: v.object({ gagal: v.boolean() }) },
  ordering: 'none',
  attempts: { max: 3, baseSeconds: 1, capSeconds: 2 },
  plan({ envelope, payload, now }) {
    if (payload.gagal) throw new Error('the exercise fails on purpose');
    return { set: { ingestedAt: now }, resultRef: `document/${envelope.aggregateId}` };
  },
});
