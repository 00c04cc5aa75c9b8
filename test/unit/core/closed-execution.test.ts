import { describe, expect, it } from 'vitest';
import { type ClosedExecution, judgeClosure } from '../../../lambdas/core/closed-execution.ts';
import { validateEnvelope } from '../../../lambdas/core/envelope.ts';
import { probeEnvelope } from '../../helpers/probe.ts';

function closed(overrides: Partial<ClosedExecution> = {}): ClosedExecution {
  const read = validateEnvelope(probeEnvelope());
  if (!read.ok) throw new Error('the envelope of the test is not valid');
  return {
    arn: 'arn:e',
    name: 'e',
    status: 'ABORTED',
    startedAt: '2026-01-01T00:00:00.000Z',
    stoppedAt: '2026-01-01T01:00:00.000Z',
    redriveCount: 0,
    error: undefined,
    cause: undefined,
    envelope: read.envelope,
    requestHash: 'h',
    rest: {},
    ...overrides,
  };
}
const ROW = { requestHash: 'h', executionName: 'e', status: 'RECEIVED' };

describe('judgeClosure', () => {
  it.each([
    ['there is no row', undefined, 'noRow'],
    ['the row is of another request', { ...ROW, requestHash: 'x' }, 'otherRequest'],
    ['the row is another execution’s', { ...ROW, executionName: 'e-r1' }, 'otherExecution'],
    ['the work is completed', { ...ROW, status: 'COMPLETED' }, 'final'],
    ['the failure is final already', { ...ROW, status: 'FAILED_TERMINAL' }, 'final'],
    ['the row knows of a redrive that the description does not', { ...ROW, replayId: 'e#1' }, 'redriven'],
  ] as const)('leaves the work alone when %s', (_when, row, why) => {
    expect(judgeClosure(closed(), row)).toEqual({ verdict: 'none', why });
  });

  it.each([
    ['the redrive that has ended is the one the row knows', { ...ROW, replayId: 'e#1' }, 1],
    ['the row’s redrive was another execution’s', { ...ROW, replayId: 'e-r1#4' }, 0],
  ] as const)('ends the work when %s', (_when, row, redriveCount) => {
    expect(judgeClosure(closed({ redriveCount }), row)).toMatchObject({ verdict: 'abandon' });
  });

  it.each([
    ['ABORTED', undefined, 'EXECUTION_ABORTED'],
    ['TIMED_OUT', 'States.Timeout', 'EXECUTION_TIMED_OUT'],
    ['FAILED', 'States.DataLimitExceeded', 'States.DataLimitExceeded'],
    ['FAILED', undefined, 'EXECUTION_FAILED'],
    ['FAILED', 'no code at all!', 'EXECUTION_FAILED'],
  ] as const)('calls %s with %s the code %s', (status, error, code) => {
    const verdict = judgeClosure(closed({ status, error, cause: 'why' }), ROW);

    expect(verdict).toMatchObject({
      verdict: 'abandon',
      failure: { code, message: expect.stringMatching(/: why$/) },
    });
  });
});
