import { describe, expect, it, vi } from 'vitest';
import { RetryableFailure, TerminalFailure, WorkerFailure } from '../../../lambdas/core/errors.ts';

describe('a failure of another copy of the package', () => {
  it('is the failure that it says it is', async () => {
    vi.resetModules();
    const other = await import('../../../lambdas/core/errors.ts');
    const retryable = new other.RetryableFailure('LATER');

    expect(other.RetryableFailure).not.toBe(RetryableFailure);
    expect(retryable).toBeInstanceOf(RetryableFailure);
    expect(retryable).toBeInstanceOf(WorkerFailure);
    expect(retryable).not.toBeInstanceOf(TerminalFailure);
    expect(new other.TerminalFailure('NEVER')).toBeInstanceOf(TerminalFailure);
  });
});

describe('instanceof', () => {
  class Declined extends TerminalFailure {}

  it('tells a team’s own subclass from its base', () => {
    expect(new Declined('DECLINED')).toBeInstanceOf(Declined);
    expect(new Declined('DECLINED')).toBeInstanceOf(TerminalFailure);
    expect(new TerminalFailure('DECLINED')).not.toBeInstanceOf(Declined);
  });

  it.each([new Error('x'), { kind: 'terminal', code: 'X' }, undefined, 'text'])('takes no %s', (value) => {
    expect(value instanceof WorkerFailure).toBe(false);
    expect(value instanceof TerminalFailure).toBe(false);
  });
});
