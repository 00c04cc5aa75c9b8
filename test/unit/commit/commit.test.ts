import { describe, expect, it } from 'vitest';
import { type CommitDeps, commit } from '../../../lambdas/commit/commit.ts';
import { type CommitDecision, DECISIONS, PLAN_VERSION } from '../../../lambdas/core/decision.ts';
import type { TransactionOutcome } from '../../../lambdas/core/transaction.ts';

const decision: CommitDecision = {
  planVersion: PLAN_VERSION,
  decision: 'Commit',
  outcome: 'APPLIED',
  identity: {
    idempotencyKey: 'k',
    requestHash: 'a'.repeat(64),
    messageType: 'Probe',
    schemaVersion: 1,
    aggregateType: 'probe',
    aggregateId: '1',
  },
  progress: { attempts: 0, rounds: 0 },
  plannedAt: '2026-01-01T00:00:00.000Z',
  aggregate: { key: { PK: 'PROBE#1', SK: 'META' }, revision: null, set: { n: { $number: '5' } }, remove: [] },
  writes: [],
  checks: [],
  events: [],
};
const execution = { Id: 'arn:1', Name: 'one', StartTime: '2026-01-01T00:00:00.000Z' };

function answering(outcome: TransactionOutcome = { outcome: 'committed' }) {
  const tokens: string[] = [];
  const deps: CommitDeps = {
    worker: 'w',
    inboxTtlSeconds: 1,
    outboxTtlSeconds: 1,
    readAside: async () => undefined,
    async transact(_items, token) {
      tokens.push(token);
      return outcome;
    },
  };
  return { deps, tokens };
}

describe('commit', () => {
  it('is the same transaction when it is repeated, and another one for another execution, plan or time', async () => {
    const { deps, tokens } = answering();
    const later = { ...decision, plannedAt: '2026-01-01T00:00:01.000Z' };

    await commit({ decision, execution }, deps);
    await commit({ decision: structuredClone(decision), execution }, deps);
    await commit({ decision, execution: { ...execution, Id: 'arn:2' } }, deps);
    await commit({ decision: { ...decision, outcome: 'SUPERSEDED' }, execution }, deps);
    await commit({ decision: later, execution }, deps);

    expect(tokens[1]).toBe(tokens[0]);
    expect(new Set(tokens).size).toBe(4);
    for (const token of tokens) expect(token).toMatch(/^[0-9a-f]{36}$/);
  });

  it.each(DECISIONS.filter((name) => name !== 'Commit'))(
    'throws %s by its name and without content',
    async (name) => {
      const { deps, tokens } = answering();
      const other = {
        ...decision,
        decision: name,
        failure: { kind: 'terminal', code: 'X', message: 'secret' },
      };

      const committing = commit(JSON.parse(JSON.stringify({ decision: other, execution })), deps);

      await expect(committing).rejects.toMatchObject({ name, message: '', stack: name });
      expect(tokens).toEqual([]);
    },
  );

  it.each(['CommitConflict', 'GuardFailed', 'Throttled', 'PlanRejected'] as const)(
    'throws %s as the answer says',
    async (outcome) => {
      const { deps } = answering({ outcome, reasons: ['None'] });

      await expect(commit({ decision, execution }, deps)).rejects.toMatchObject({ name: outcome });
    },
  );

  it("accepts the plan of the deployment before, and sends a newer one's back to Plan", async () => {
    const { deps } = answering();

    await expect(
      commit({ decision: { ...decision, planVersion: PLAN_VERSION - 1 }, execution }, deps),
    ).resolves.toMatchObject({ status: 'COMPLETED' });
    await expect(
      commit({ decision: { ...decision, planVersion: PLAN_VERSION + 1 }, execution }, deps),
    ).rejects.toMatchObject({ name: 'GuardFailed' });
  });
});
