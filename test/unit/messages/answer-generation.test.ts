import { describe, expect, it } from 'vitest';
import { answerGeneration, questionKey } from '../../../lambdas/messages/answer-generation.ts';
import { testPlan } from '../../../local/testing/index.ts';

const payload = { userId: 'U-1', prompt: 'When is my case decided?', contextVersion: 3 };
const envelope = { aggregateType: 'question', aggregateId: 'Q-1', idempotencyKey: 'question:Q-1' };

describe('AnswerGenerationRequested', () => {
  it('asks the model for the prompt, shared for an hour under the key of the question', async () => {
    const plan = await testPlan(answerGeneration, { payload, envelope });

    expect(plan.effects).toMatchObject([
      {
        provider: 'Model',
        operation: 'converse',
        request: { messages: [{ role: 'user', text: payload.prompt }] },
        cache: { key: questionKey(payload), ttlSeconds: 3600, version: 1 },
      },
    ]);
  });

  it('sends the answer to the waiting caller as an event', async () => {
    const plan = await testPlan(answerGeneration, {
      payload,
      envelope,
      effects: { answer: { response: { text: 'In May.', stopReason: 'end_turn' } } },
    });

    expect(plan.set).toMatchObject({ answerState: 'ANSWERED' });
    expect(plan.events).toMatchObject([
      {
        messageType: 'AnswerGenerated',
        idempotencyKey: 'question:Q-1:answer',
        payload: { userId: 'U-1', answer: 'In May.', degraded: false },
      },
    ]);
  });

  it('sends the fallback, marked degraded, when the model gave no answer', async () => {
    const asked = await testPlan(answerGeneration, { payload, envelope });
    const fallback = asked.effects?.[0]?.fallback;
    const plan = await testPlan(answerGeneration, {
      payload,
      envelope,
      effects: { answer: { response: fallback, degraded: true } },
    });

    expect(plan.set).toMatchObject({ answerState: 'DEGRADED' });
    expect(plan.events).toMatchObject([
      { payload: { answer: expect.stringContaining('ask again later'), degraded: true } },
    ]);
  });
});

describe('questionKey', () => {
  it('is 64 hexadecimal digits, and the same for the same question', () => {
    expect(questionKey(payload)).toMatch(/^[0-9a-f]{64}$/);
    expect(questionKey({ ...payload })).toBe(questionKey(payload));
  });

  it.each([
    ['another user', { userId: 'U-2' }],
    ['another prompt', { prompt: 'When is my case decided' }],
    ['another context', { contextVersion: 4 }],
    ['the same characters divided otherwise', { userId: 'U-1W', prompt: 'hen is my case decided?' }],
  ])('differs for %s', (_, other) => {
    expect(questionKey({ ...payload, ...other })).not.toBe(questionKey(payload));
  });
});
