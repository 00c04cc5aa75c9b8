import { describe, expect, it } from 'vitest';
import { deadlineEnvelope } from '../helpers/envelopes.ts';
import { startWorker } from '../helpers/worker.ts';

describe('the straight path', () => {
  it('commits a message once, in two billed transitions', async () => {
    const worker = await startWorker();

    await worker.send(deadlineEnvelope());
    await worker.untilIdle();

    const execution = await worker.execution('case:CASE-123:deadline:v4');
    expect(execution).toMatchObject({
      status: 'SUCCEEDED',
      states: ['Plan', 'Commit'],
      billedTransitions: 2,
    });
    expect(await worker.inbox('case:CASE-123:deadline:v4')).toMatchObject({
      status: 'COMPLETED',
      outcome: 'APPLIED',
      attempts: 1,
      receiveCount: 1,
      resultRef: 'case/CASE-123/deadline',
    });
    expect(await worker.aggregate('case', 'CASE-123')).toMatchObject({
      revision: 1,
      'version#CaseDeadlineCalculationRequested': 4,
      deadlineAt: '2026-01-31T10:15:00.000Z',
    });
  });
});
