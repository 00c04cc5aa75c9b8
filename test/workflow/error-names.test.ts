import { describe, expect, it } from 'vitest';
import { COMMIT_ERRORS } from '../../lambdas/core/commit-errors.ts';
import { DECISIONS } from '../../lambdas/core/decision.ts';
import { ConfigurationError } from '../../lambdas/core/errors.ts';
import { renderDefinition } from '../../statemachines/definition.ts';
import { allStates, matchedErrors } from '../helpers/definition.ts';
import { thrownByName } from '../helpers/known-calls.ts';

/** Names that Step Functions and its integrations give, not our code. */
const OF_THE_PLATFORM = /^(Lambda|Runtime|Sandbox|States|DynamoDb|DynamoDB|Sqs|SQS)\./;

const states = allStates(renderDefinition());
const caughtBy = (name: string) => {
  const found = states.find(([state]) => state === name);
  return found === undefined ? [] : matchedErrors(found[1], 'Catch');
};
const matched = new Set(
  states.flatMap(([, state]) => [...matchedErrors(state, 'Retry'), ...matchedErrors(state, 'Catch')]),
);
/** What Commit throws: the name of every decision but its own, and what DynamoDB answered. */
const thrownByCommit = [...DECISIONS.filter((name) => name !== 'Commit'), ...COMMIT_ERRORS];
const effectErrors = thrownByName(['run-effect']).filter((name) => /^Effect/.test(name));

describe('error names', () => {
  it.each(thrownByCommit)('%s has a catcher of its own at Commit', (name) => {
    expect(caughtBy('Commit')).toContain(name);
  });

  it.each(thrownByName(['plan', 'commit', 'report-failure', 'run-effect']))(
    '%s, which a function throws to be routed, is matched',
    (name) => {
      expect(matched).toContain(name);
    },
  );

  it('that the definition matches are thrown by the code', () => {
    const thrown = [
      ...thrownByCommit,
      ...thrownByName(['plan', 'commit', 'report-failure', 'run-effect']),
      // Thrown at init, by what reads a function's environment.
      new ConfigurationError('').name,
    ];
    const unknown = [...matched].filter((name) => !OF_THE_PLATFORM.test(name) && !thrown.includes(name));

    // RunEffect's own names count once its bundle is there.
    expect(unknown.filter((name) => effectErrors.length > 0 || !name.startsWith('Effect'))).toEqual([]);
  });
});

describe('the definition', () => {
  it.each(states.filter(([, state]) => state.Type === 'Task'))(
    'gives %s a time-out, retries and a comment',
    (_name, state) => {
      expect(state.TimeoutSeconds).toBeDefined();
      expect(String(state.Comment).length).toBeGreaterThan(40);
      expect(matchedErrors(state, 'Retry').length).toBeGreaterThan(0);
    },
  );

  it('jitters every retry', () => {
    for (const [name, state] of states) {
      const rules = Array.isArray(state.Retry) ? state.Retry : [];
      for (const rule of rules) {
        const retry: Record<string, unknown> = Object(rule);
        if (retry.MaxAttempts === 0) continue;
        expect(retry, name).toMatchObject({ JitterStrategy: 'FULL', MaxDelaySeconds: expect.any(Number) });
      }
    }
  });

  it('ends in success only where the work has been done', () => {
    const ends = states
      .filter(([, state]) => state.End === true || state.Type === 'Succeed')
      .map(([name]) => name);

    expect(ends.filter((name) => name !== 'RunEffect').sort()).toEqual(['AlreadyCompleted', 'Commit']);
  });
});
