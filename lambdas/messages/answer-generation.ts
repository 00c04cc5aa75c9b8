import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { derivedKey } from '../core/identity.ts';
import { defineMessage } from '../core/message-type.ts';

/** The model that answers. The provider's function needs the right to invoke it. */
export const ANSWER_MODEL_ID = 'amazon.nova-lite-v1:0';
/** Raise it with the model or the instruction: answers that were given before are void then. */
const ANSWER_VERSION = 1;
const INSTRUCTION = 'Answer the question about the case in at most three sentences.';
const MAX_TOKENS = 500;
const HOUR_SECONDS = 60 * 60;
const FALLBACK = 'The question cannot be answered at the moment. Please ask again later.';

const answerSchema = v.object({ text: v.string() });

/**
 * A user's question is to be answered by a model. Equal questions of one user in one context are one call, whose
 * answer is shared for an hour; when the model gives none, a fallback goes out, marked `degraded`. The answer reaches
 * the waiting caller as an event. Questions are personal data, so they stay out of execution histories.
 */
export const answerGeneration = defineMessage({
  type: 'AnswerGenerationRequested',
  schemas: {
    1: v.object({
      userId: v.pipe(v.string(), v.nonEmpty()),
      prompt: v.pipe(v.string(), v.nonEmpty(), v.maxLength(10_000)),
      /** Counts the changes of what the answer rests on: the user's data, preferences, rights. */
      contextVersion: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
    }),
  },
  ordering: 'none',
  data: 'reference',
  attempts: { max: 5, baseSeconds: 2, capSeconds: 60 },
  plan({ envelope, payload, effects, now }) {
    const response = v.safeParse(answerSchema, effects.answer?.response);
    const degraded = effects.answer?.degraded ?? false;
    return {
      effects: [
        {
          name: 'answer',
          provider: 'Model',
          operation: 'converse',
          request: {
            modelId: ANSWER_MODEL_ID,
            system: INSTRUCTION,
            messages: [{ role: 'user', text: payload.prompt }],
            maxTokens: MAX_TOKENS,
          },
          cache: { key: questionKey(payload), ttlSeconds: HOUR_SECONDS, version: ANSWER_VERSION },
          fallback: { text: FALLBACK },
        },
      ],
      set: { answerState: degraded ? 'DEGRADED' : 'ANSWERED', answeredAt: now },
      events: [
        {
          messageType: 'AnswerGenerated',
          idempotencyKey: derivedKey(envelope.idempotencyKey, 'answer'),
          aggregateType: envelope.aggregateType,
          aggregateId: envelope.aggregateId,
          payload: {
            userId: payload.userId,
            answer: response.success ? response.output.text : FALLBACK,
            degraded,
          },
        },
      ],
      resultRef: `question/${envelope.aggregateId}/answer`,
    };
  },
});

/**
 * SHA-256 of user, prompt and context version, in hexadecimal. They are hashed as a list: run together, user `u1` with
 * the prompt `2 …` and user `u12` with `…` would share an answer.
 */
export function questionKey(question: {
  readonly userId: string;
  readonly prompt: string;
  readonly contextVersion: number;
}): string {
  const { userId, prompt, contextVersion } = question;
  return createHash('sha256')
    .update(JSON.stringify([userId, prompt, contextVersion]))
    .digest('hex');
}
