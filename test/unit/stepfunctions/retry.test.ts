import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../lambdas/core/json.ts';
import { createHarness, oneTask, thrown } from './harness.ts';

/** When each attempt was made, in seconds after the start. */
async function attempts(retry: readonly JsonObject[], errors: readonly string[], random = () => 0.5) {
  const times: number[] = [];
  const harness = createHarness(oneTask({ Retry: retry }), {
    random,
    lambda: (payload, call) => {
      times.push((harness.clock.now() - start) / 1000);
      const error = errors[call - 1];
      return error === undefined ? { payload } : thrown(error);
    },
  });
  const start = harness.clock.now();
  const arn = await harness.start();
  const end = await harness.finish(arn);
  return { times, status: end.status, error: end.error };
}

describe('Retry', () => {
  it('waits the interval, then grows it by the rate', async () => {
    const retry = [{ ErrorEquals: ['Busy'], IntervalSeconds: 2, BackoffRate: 3, MaxAttempts: 3 }];

    const { times, status } = await attempts(retry, ['Busy', 'Busy', 'Busy']);

    expect(times).toEqual([0, 2, 8, 26]);
    expect(status).toBe('SUCCEEDED');
  });

  it('fails with the last error when the attempts are spent', async () => {
    const retry = [{ ErrorEquals: ['Busy'], IntervalSeconds: 1, MaxAttempts: 2 }];

    const { times, status, error } = await attempts(retry, ['Busy', 'Busy', 'Busy']);

    expect(times).toEqual([0, 1, 3]);
    expect([status, error]).toEqual(['FAILED', 'Busy']);
  });

  it('never waits longer than MaxDelaySeconds', async () => {
    const retry = [
      { ErrorEquals: ['Busy'], IntervalSeconds: 1, BackoffRate: 10, MaxDelaySeconds: 5, MaxAttempts: 3 },
    ];

    const { times } = await attempts(retry, ['Busy', 'Busy', 'Busy']);

    expect(times).toEqual([0, 1, 6, 11]);
  });

  it('draws the delay between zero and its length when the jitter is FULL', async () => {
    const retry = [{ ErrorEquals: ['Busy'], IntervalSeconds: 4, JitterStrategy: 'FULL', MaxAttempts: 2 }];

    const { times } = await attempts(retry, ['Busy', 'Busy'], () => 0.25);

    expect(times).toEqual([0, 1, 3]);
  });

  it('takes the first retrier that matches and counts each by itself', async () => {
    const retry = [
      { ErrorEquals: ['Busy'], IntervalSeconds: 1, MaxAttempts: 1 },
      { ErrorEquals: ['States.ALL'], IntervalSeconds: 10, MaxAttempts: 2 },
    ];

    const { times, error } = await attempts(retry, ['Busy', 'Other', 'Other', 'Busy']);

    expect(times).toEqual([0, 1, 11, 31]);
    expect(error).toBe('Busy');
  });

  it('does not retry when MaxAttempts is 0', async () => {
    const retry = [
      { ErrorEquals: ['Busy'], MaxAttempts: 0 },
      { ErrorEquals: ['States.ALL'], MaxAttempts: 5 },
    ];

    const { times, status } = await attempts(retry, ['Busy']);

    expect(times).toEqual([0]);
    expect(status).toBe('FAILED');
  });

  it('schedules again without entering the state again, and counts as a transition', async () => {
    const retry = [{ ErrorEquals: ['Busy'], IntervalSeconds: 1 }];
    const harness = createHarness(oneTask({ Retry: retry }), {
      lambda: (payload, call) => (call === 1 ? thrown('Busy') : { payload }),
    });
    const arn = await harness.start();
    await harness.finish(arn);

    expect(await harness.types(arn)).toEqual([
      'ExecutionStarted',
      'TaskStateEntered',
      'TaskScheduled',
      'TaskStarted',
      'TaskFailed',
      'TaskScheduled',
      'TaskStarted',
      'TaskSucceeded',
      'TaskStateExited',
      'ExecutionSucceeded',
    ]);
    expect(harness.sfn.billedTransitions(arn)).toBe(2);
  });

  it('shows the retry count in the context object and evaluates the arguments again', async () => {
    const seen: unknown[] = [];
    const fields = {
      Arguments: { FunctionName: 'work', Payload: '{% $states.context.State.RetryCount %}' },
      Retry: [{ ErrorEquals: ['States.ALL'], IntervalSeconds: 1 }],
    };
    const harness = createHarness(oneTask(fields), {
      lambda: (payload, call) => {
        seen.push(payload);
        return call < 3 ? thrown('Busy') : { payload };
      },
    });

    await harness.finish(await harness.start());

    expect(seen).toEqual([0, 1, 2]);
  });
});

describe('Catch', () => {
  const fallback = { Fallback: { Type: 'Pass', End: true } };

  it('hands the error on as the output when it has no Output of its own', async () => {
    const fields = { Catch: [{ ErrorEquals: ['Busy'], Next: 'Fallback' }] };
    const harness = createHarness(oneTask(fields, fallback), { lambda: () => thrown('Busy', 'Try later.') });

    const end = await harness.finish(await harness.start());

    const output = JSON.parse(String(end.output));
    expect(output.Error).toBe('Busy');
    expect(JSON.parse(output.Cause)).toEqual({ errorType: 'Busy', errorMessage: 'Try later.' });
  });

  it('goes by the first catcher that matches', async () => {
    const fields = {
      Catch: [
        { ErrorEquals: ['Other'], Next: 'Fallback', Output: 'other' },
        { ErrorEquals: ['Busy', 'Slow'], Next: 'Fallback', Output: 'busy' },
        { ErrorEquals: ['States.ALL'], Next: 'Fallback', Output: 'all' },
      ],
    };
    const harness = createHarness(oneTask(fields, fallback), { lambda: () => thrown('Slow') });

    const end = await harness.finish(await harness.start());

    expect(end.output).toBe('"busy"');
  });

  it('does not take States.TaskFailed for a time-out', async () => {
    const fields = {
      TimeoutSeconds: 5,
      Catch: [
        { ErrorEquals: ['States.TaskFailed'], Next: 'Fallback', Output: 'failed' },
        { ErrorEquals: ['States.Timeout'], Next: 'Fallback', Output: '{% $states.errorOutput %}' },
      ],
    };
    const harness = createHarness(oneTask(fields, fallback), { lambda: () => new Promise(() => {}) });

    const end = await harness.finish(await harness.start());

    expect(JSON.parse(String(end.output))).toEqual({ Error: 'States.Timeout', Cause: '' });
  });

  it('never catches States.Runtime, not even by name', async () => {
    const fields = {
      Arguments: "{% {'FunctionName': 'work', 'Qualifier': '1'} %}",
      Catch: [
        { ErrorEquals: ['States.Runtime'], Next: 'Fallback' },
        { ErrorEquals: ['States.ALL'], Next: 'Fallback' },
      ],
    };
    const harness = createHarness(oneTask(fields, fallback));

    const end = await harness.finish(await harness.start());

    expect([end.status, end.error]).toEqual(['FAILED', 'States.Runtime']);
  });

  it('catches a result that is larger than 256 KiB', async () => {
    const fields = {
      Catch: [{ ErrorEquals: ['States.DataLimitExceeded'], Next: 'Fallback', Output: 'big' }],
    };
    const harness = createHarness(oneTask(fields, fallback), {
      lambda: () => ({ payload: 'x'.repeat(262_144) }),
    });

    const end = await harness.finish(await harness.start());

    expect(end.output).toBe('"big"');
  });

  it('catches an expression that fails', async () => {
    const fields = {
      Output: '{% $states.result.Payload.missing %}',
      Catch: [{ ErrorEquals: ['States.QueryEvaluationError'], Next: 'Fallback', Output: 'caught' }],
    };
    const harness = createHarness(oneTask(fields, fallback));

    const arn = await harness.start();
    const end = await harness.finish(arn);

    expect(end.output).toBe('"caught"');
    expect(await harness.types(arn)).toContain('EvaluationFailed');
  });
});
