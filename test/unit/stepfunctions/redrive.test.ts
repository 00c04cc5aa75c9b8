import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../lambdas/core/json.ts';
import type { LambdaAnswer } from '../../../local/stepfunctions/services/task-services.ts';
import { createHarness, machineArn, oneTask, thrown } from './harness.ts';

const DAY = 86_400_000;

/** Two steps, of which the second fails as long as `broken` holds. */
function twoSteps(fields: JsonObject = {}) {
  const calls: JsonValue[] = [];
  const state = { broken: true, calls };
  const second = {
    Type: 'Task',
    Resource: 'arn:aws:states:::lambda:invoke',
    Arguments: {
      FunctionName: 'second',
      Payload: ['second', '{% $states.context.Execution.RedriveCount %}'],
    },
    Output: '{% $states.result.Payload %}',
    End: true,
    ...fields,
  };
  const first = { Next: 'Second', Arguments: { FunctionName: 'first', Payload: 'first' } };
  const definition = oneTask(first, { Second: second });
  const harness = createHarness(definition, {
    lambda: (payload): LambdaAnswer => {
      state.calls.push(payload);
      return payload !== 'first' && state.broken ? thrown('Broken') : { payload };
    },
  });
  return { ...harness, state };
}

describe('RedriveExecution', () => {
  it('runs the failed step again with its input, and no step before it', async () => {
    const harness = twoSteps();
    const arn = await harness.start();
    await harness.finish(arn);
    harness.state.broken = false;

    await harness.call('RedriveExecution', { executionArn: arn });
    const end = await harness.finish(arn);

    expect(harness.state.calls).toEqual(['first', ['second', 0], ['second', 1]]);
    expect([end.status, end.redriveCount, end.error]).toEqual(['SUCCEEDED', 1, undefined]);
    expect((await harness.types(arn)).slice(8)).toEqual([
      'TaskStarted',
      'TaskFailed',
      'ExecutionFailed',
      'ExecutionRedriven',
      'TaskScheduled',
      'TaskStarted',
      'TaskSucceeded',
      'TaskStateExited',
      'ExecutionSucceeded',
    ]);
    expect(harness.sfn.billedTransitions(arn)).toBe(3);
    expect(harness.changes.map(({ status }) => status)).toEqual([
      'RUNNING',
      'FAILED',
      'RUNNING',
      'SUCCEEDED',
    ]);
  });

  it('gives every retrier its attempts back', async () => {
    const harness = twoSteps({ Retry: [{ ErrorEquals: ['Broken'], IntervalSeconds: 1, MaxAttempts: 2 }] });
    const arn = await harness.start();
    await harness.finish(arn);

    await harness.call('RedriveExecution', { executionArn: arn });
    await harness.finish(arn);

    expect(harness.state.calls).toHaveLength(1 + 3 + 3);
  });

  it('says in the context object when it happened', async () => {
    const definition = {
      QueryLanguage: 'JSONata',
      StartAt: 'Check',
      States: {
        Check: {
          Type: 'Pass',
          Output:
            '{% $states.context.Execution.RedriveCount = 2 ? $states.context.Execution.RedriveTime : $error("no") %}',
          End: true,
        },
      },
    };
    const harness = createHarness(definition);
    const arn = await harness.start();
    await harness.finish(arn);
    await harness.call('RedriveExecution', { executionArn: arn });
    await harness.finish(arn);
    await harness.advance(5_000);
    await harness.call('RedriveExecution', { executionArn: arn });

    const end = await harness.finish(arn);

    expect(end.output).toBe('"2026-01-01T00:00:05.000Z"');
  });

  it('enters a Fail state again, which fails again', async () => {
    const harness = createHarness({
      QueryLanguage: 'JSONata',
      StartAt: 'Stop',
      States: { Stop: { Type: 'Fail', Error: 'Stopped' } },
    });
    const arn = await harness.start();
    await harness.finish(arn);

    await harness.call('RedriveExecution', { executionArn: arn });
    const end = await harness.finish(arn);

    expect([end.status, end.error]).toEqual(['FAILED', 'Stopped']);
    expect(await harness.types(arn)).toEqual([
      'ExecutionStarted',
      'FailStateEntered',
      'ExecutionFailed',
      'ExecutionRedriven',
      'FailStateEntered',
      'ExecutionFailed',
    ]);
  });

  it('ends a Wait at once whose time has passed', async () => {
    const harness = createHarness({
      QueryLanguage: 'JSONata',
      StartAt: 'Rest',
      States: { Rest: { Type: 'Wait', Timestamp: '2026-01-01T01:00:00Z', End: true } },
    });
    const arn = await harness.start();
    await harness.call('StopExecution', { executionArn: arn, error: 'Stopped', cause: 'by hand' });
    await harness.advance(2 * 3_600_000);
    const before = harness.clock.now();

    await harness.call('RedriveExecution', { executionArn: arn });
    const end = await harness.finish(arn);

    expect(end.status).toBe('SUCCEEDED');
    expect(harness.clock.now()).toBe(before);
  });

  it('runs only the branches of a Parallel that had not succeeded', async () => {
    const branch = (name: string) => ({
      StartAt: name,
      States: {
        [name]: {
          Type: 'Task',
          Resource: 'arn:aws:states:::lambda:invoke',
          Arguments: { FunctionName: 'work', Payload: name },
          Output: '{% $states.result.Payload %}',
          End: true,
        },
      },
    });
    const calls: JsonValue[] = [];
    const definition = {
      QueryLanguage: 'JSONata',
      StartAt: 'Both',
      States: { Both: { Type: 'Parallel', Branches: [branch('Good'), branch('Bad')], End: true } },
    };
    const harness = createHarness(definition, {
      lambda: async (payload, call) => {
        calls.push(payload);
        if (payload === 'Good') return { payload };
        await harness.clock.sleep(1_000);
        return call < 3 ? thrown('Broken') : { payload };
      },
    });
    const arn = await harness.start();
    await harness.finish(arn);

    await harness.call('RedriveExecution', { executionArn: arn });
    const end = await harness.finish(arn);

    expect(calls).toEqual(['Good', 'Bad', 'Bad']);
    expect(end.output).toBe('["Good","Bad"]');
  });

  it('runs only the iterations of a Map that had not succeeded', async () => {
    const calls: JsonValue[] = [];
    const definition = {
      QueryLanguage: 'JSONata',
      StartAt: 'Each',
      States: {
        Each: {
          Type: 'Map',
          Items: '{% $states.input %}',
          MaxConcurrency: 1,
          ItemProcessor: oneTask(),
          End: true,
        },
      },
    };
    const { QueryLanguage: _, ...processor } = oneTask();
    const each = { ...definition.States.Each, ItemProcessor: processor };
    const harness = createHarness(
      { ...definition, States: { Each: each } },
      {
        lambda: (payload) => {
          calls.push(payload);
          return payload === 2 && calls.length < 3 ? thrown('Broken') : { payload };
        },
      },
    );
    const arn = await harness.start([1, 2, 3]);
    await harness.finish(arn);

    await harness.call('RedriveExecution', { executionArn: arn });
    const end = await harness.finish(arn);

    expect(calls).toEqual([1, 2, 2, 3]);
    expect(end.output).toBe('[1,2,3]');
  });

  it('stays on the definition that the execution started with', async () => {
    const harness = twoSteps();
    const arn = await harness.start();
    await harness.finish(arn);
    harness.state.broken = false;
    harness.sfn.updateStateMachine(machineArn(), {
      QueryLanguage: 'JSONata',
      StartAt: 'New',
      States: { New: { Type: 'Succeed', Output: 'new' } },
    });

    await harness.call('RedriveExecution', { executionArn: arn });
    const end = await harness.finish(arn);

    expect(end.output).toBe('["second",1]');
  });

  it('answers the same clientToken with the same date for 15 minutes', async () => {
    const harness = twoSteps();
    const arn = await harness.start();
    await harness.finish(arn);

    const first = await harness.call('RedriveExecution', { executionArn: arn, clientToken: 'a' });
    await harness.finish(arn);
    await harness.advance(60_000);
    const again = await harness.call('RedriveExecution', { executionArn: arn, clientToken: 'a' });
    const calls = harness.state.calls.length;
    await harness.advance(15 * 60_000);
    const later = await harness.call('RedriveExecution', { executionArn: arn, clientToken: 'a' });

    expect(again).toEqual(first);
    expect(calls).toBe(3);
    expect(later).not.toEqual(first);
  });

  it.each<[string, (harness: ReturnType<typeof twoSteps>, arn: string) => Promise<void>]>([
    [
      'runs',
      async (harness, arn) => {
        await harness.call('RedriveExecution', { executionArn: arn });
      },
    ],
    [
      'has succeeded',
      async (harness, arn) => {
        harness.state.broken = false;
        await harness.call('RedriveExecution', { executionArn: arn });
        await harness.finish(arn);
      },
    ],
    ['ended more than 14 days ago', async (harness) => harness.advance(14 * DAY + 1)],
  ])('refuses an execution that %s', async (_title, prepare) => {
    const harness = twoSteps({ TimeoutSeconds: 10 });
    const arn = await harness.start();
    await harness.finish(arn);
    await prepare(harness, arn);

    expect(await harness.refusal('RedriveExecution', { executionArn: arn })).toBe('ExecutionNotRedrivable');
    expect((await harness.call('DescribeExecution', { executionArn: arn })).redriveStatus).toBe(
      'NOT_REDRIVABLE',
    );
  });
});
