import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../lambdas/core/json.ts';
import { createHarness, thrown } from './harness.ts';

const work = (fields: JsonObject = {}) => ({
  Type: 'Task',
  Resource: 'arn:aws:states:::lambda:invoke',
  Arguments: { FunctionName: 'work', Payload: '{% $states.input %}' },
  Output: '{% $states.result.Payload %}',
  ...('Next' in fields ? {} : { End: true }),
  ...fields,
});

function machine(states: JsonObject): JsonObject {
  return { QueryLanguage: 'JSONata', StartAt: Object.keys(states)[0] ?? '', States: states };
}

async function run(states: JsonObject, input: JsonValue = {}) {
  const harness = createHarness(machine(states));
  const arn = await harness.start(input);
  const end = await harness.finish(arn);
  const { status, error, cause, executionArn } = end;
  const output: JsonValue = typeof end.output === 'string' ? JSON.parse(end.output) : null;
  return { status, error, cause, executionArn, output, types: await harness.types(arn) };
}

describe('Choice', () => {
  const choose = {
    Choose: {
      Type: 'Choice',
      Choices: [
        { Condition: '{% $states.input.n > 10 %}', Next: 'End', Output: 'big', Assign: { size: 'big' } },
        { Condition: '{% $states.input.n > 5 %}', Next: 'End', Output: 'middle' },
      ],
    },
    End: { Type: 'Succeed' },
  };

  it.each([
    [20, 'big'],
    [7, 'middle'],
  ])('takes the first rule that holds for %d', async (n, expected) => {
    expect((await run(choose, { n })).output).toBe(expected);
  });

  it('fails when no rule holds and there is no Default', async () => {
    const end = await run(choose, { n: 1 });

    expect([end.status, end.error]).toEqual(['FAILED', 'States.NoChoiceMatched']);
  });

  it('fails when a condition is no boolean', async () => {
    const end = await run({
      Choose: { Type: 'Choice', Choices: [{ Condition: '{% 1 %}', Next: 'End' }], Default: 'End' },
      End: { Type: 'Succeed' },
    });

    expect(end.error).toBe('States.QueryEvaluationError');
    expect(end.cause).toContain("Expected 'boolean', but was 'number'");
  });
});

describe('Assign', () => {
  it('sees the values from before, and takes effect in the next state', async () => {
    const end = await run({
      A: { Type: 'Pass', Assign: { x: 1, y: 2 }, Next: 'B' },
      B: { Type: 'Pass', Assign: { x: '{% $y %}', y: '{% $x %}' }, Output: '{% $x %}', Next: 'C' },
      C: { Type: 'Pass', Output: '{% [$states.input, $x, $y] %}', End: true },
    });

    expect(end.output).toEqual([1, 2, 1]);
  });

  it('lets inner scopes read outer variables, and forgets theirs at the end', async () => {
    const end = await run({
      A: { Type: 'Pass', Assign: { outer: 'seen' }, Next: 'Both' },
      Both: {
        Type: 'Parallel',
        Branches: [
          {
            StartAt: 'Inner',
            States: { Inner: { Type: 'Pass', Assign: { inner: 1 }, Output: '{% $outer %}', End: true } },
          },
        ],
        Next: 'After',
      },
      After: { Type: 'Pass', Output: '{% [$states.input[0], $exists($inner)] %}', End: true },
    });

    expect(end.output).toEqual(['seen', false]);
  });

  it('is limited to 256 KiB', async () => {
    const big = '{% $pad("x", 200000) %}';
    const end = await run({ A: { Type: 'Pass', Assign: { a: big, b: big }, End: true } });

    expect(end.error).toBe('States.DataLimitExceeded');
  });

  it('keeps a value that JSONata made as a sequence as a plain array', async () => {
    const end = await run({
      A: { Type: 'Pass', Assign: { list: '{% [1].{"n": $} %}', two: '{% [1,2].($) %}' }, Next: 'B' },
      B: { Type: 'Pass', Output: '{% [$type($list), $type($two), $count($two)] %}', End: true },
    });

    expect(end.output).toEqual(['object', 'array', 2]);
  });
});

describe('Parallel', () => {
  it('gives the outputs in the order of the branches', async () => {
    const branch = (seconds: number, name: string) => ({
      StartAt: name,
      States: { [name]: { Type: 'Wait', Seconds: seconds, Output: name, End: true } },
    });
    const end = await run({
      Both: {
        Type: 'Parallel',
        Arguments: { x: 1 },
        Branches: [branch(5, 'Slow'), branch(1, 'Fast')],
        Output: '{% $states.result %}',
        End: true,
      },
    });

    expect(end.output).toEqual(['Slow', 'Fast']);
    expect(end.types.slice(-3)).toEqual([
      'ParallelStateSucceeded',
      'ParallelStateExited',
      'ExecutionSucceeded',
    ]);
  });

  it('aborts the other branches when one fails, and takes their timers down', async () => {
    const harness = createHarness(
      machine({
        Both: {
          Type: 'Parallel',
          Branches: [
            { StartAt: 'Rest', States: { Rest: { Type: 'Wait', Seconds: 500, End: true } } },
            { StartAt: 'Stop', States: { Stop: { Type: 'Fail', Error: 'Stopped', Cause: 'enough' } } },
          ],
          Catch: [{ ErrorEquals: ['Stopped'], Next: 'Caught', Output: '{% $states.errorOutput %}' }],
          End: true,
        },
        Caught: { Type: 'Succeed' },
      }),
    );
    const start = harness.clock.now();
    const arn = await harness.start();

    const end = await harness.finish(arn);

    expect(JSON.parse(String(end.output))).toEqual({ Error: 'Stopped', Cause: 'enough' });
    expect(harness.clock.now()).toBe(start);
    expect(harness.clock.nextTimer()).toBeUndefined();
    expect(await harness.types(arn)).toContain('WaitStateAborted');
  });

  it('runs all branches again when it is retried', async () => {
    const calls: JsonValue[] = [];
    const branch = (name: string) => ({
      StartAt: name,
      States: { [name]: work({ Arguments: { FunctionName: 'work', Payload: name } }) },
    });
    const harness = createHarness(
      machine({
        Both: {
          Type: 'Parallel',
          Branches: [branch('A'), branch('B')],
          Retry: [{ ErrorEquals: ['Broken'], IntervalSeconds: 1 }],
          End: true,
        },
      }),
      {
        lambda: (payload, call) => {
          calls.push(payload);
          return call === 2 ? thrown('Broken') : { payload };
        },
      },
    );
    const arn = await harness.start();
    await harness.finish(arn);

    expect(calls).toEqual(['A', 'B', 'A', 'B']);
    expect(harness.sfn.billedTransitions(arn)).toBe(6);
  });
});

describe('Map', () => {
  const each = (fields: JsonObject, inner: JsonObject = work()) =>
    machine({
      Each: {
        Type: 'Map',
        Items: '{% $states.input.items %}',
        ItemProcessor: { StartAt: 'One', States: { One: inner } },
        End: true,
        ...fields,
      },
    });

  it.each([
    [2, 2],
    [0, 5],
  ])('runs at most MaxConcurrency (%d) iterations at once', async (maxConcurrency, expected) => {
    let running = 0;
    let most = 0;
    const harness = createHarness(each({ MaxConcurrency: '{% $states.input.at %}' }), {
      lambda: async (payload) => {
        running += 1;
        most = Math.max(most, running);
        await harness.clock.sleep(1_000);
        running -= 1;
        return { payload };
      },
    });

    const end = await harness.finish(await harness.start({ items: [1, 2, 3, 4, 5], at: maxConcurrency }));

    expect(end.output).toBe('[1,2,3,4,5]');
    expect(most).toBe(expected);
  });

  it('gives each iteration what ItemSelector makes of its item, with the Map in the context', async () => {
    const selector = {
      index: '{% $states.context.Map.Item.Index %}',
      value: '{% $states.context.Map.Item.Value %}',
      shared: '{% $states.input.shared %}',
    };
    const inner = {
      Type: 'Pass',
      Output: '{% [$states.input, $states.context.Map.Item.Index] %}',
      End: true,
    };
    const harness = createHarness(each({ ItemSelector: selector }, inner));

    const end = await harness.finish(await harness.start({ items: ['a', 'b'], shared: true }));

    expect(JSON.parse(String(end.output))).toEqual([
      [{ index: 0, value: 'a', shared: true }, 0],
      [{ index: 1, value: 'b', shared: true }, 1],
    ]);
  });

  it('aborts the other iterations when one fails', async () => {
    const harness = createHarness(each({}), {
      lambda: async (payload) => {
        if (payload === 2) return thrown('Broken');
        await harness.clock.sleep(60_000);
        return { payload };
      },
    });
    const arn = await harness.start({ items: [1, 2, 3] });

    const end = await harness.finish(arn);

    expect([end.status, end.error]).toEqual(['FAILED', 'Broken']);
    const types = await harness.types(arn);
    expect(types.filter((type) => type.startsWith('MapIteration'))).toEqual([
      'MapIterationStarted',
      'MapIterationStarted',
      'MapIterationStarted',
      'MapIterationFailed',
      'MapIterationAborted',
      'MapIterationAborted',
    ]);
  });
});

describe('an execution', () => {
  it('fails for good when its history is full', async () => {
    const harness = createHarness(
      machine({
        Again: { Type: 'Pass', Next: 'Check' },
        Check: { Type: 'Choice', Choices: [{ Condition: false, Next: 'Stop' }], Default: 'Again' },
        Stop: { Type: 'Succeed' },
      }),
    );
    const arn = await harness.start();

    const end = await harness.finish(arn);

    expect([end.status, end.error]).toEqual(['FAILED', 'States.Runtime']);
    expect(harness.sfn.history(arn)).toHaveLength(25_000);
    expect(end.redriveStatus).toBe('NOT_REDRIVABLE');
  });

  it('fails when a state gives more than 256 KiB', async () => {
    const end = await run({ Big: { Type: 'Pass', Output: '{% $pad("é", 140000, "é") %}', End: true } });

    expect([end.status, end.error]).toEqual(['FAILED', 'States.DataLimitExceeded']);
  });

  it('sees itself in the context object', async () => {
    const end = await run({
      Look: {
        Type: 'Pass',
        Output:
          '{% $merge([$states.context.Execution, $states.context.State, {"m": $states.context.StateMachine.Name}]) %}',
        End: true,
      },
    });

    expect(end.output).toMatchObject({
      Id: end.executionArn,
      Input: {},
      StartTime: '2026-01-01T00:00:00.000Z',
      EnteredTime: '2026-01-01T00:00:00.000Z',
      RedriveCount: 0,
      m: 'machine',
    });
    expect(end.output).not.toHaveProperty('RetryCount');
  });

  it('tells of every change of its status', async () => {
    const harness = createHarness(machine({ Work: work() }));
    await harness.finish(await harness.start({ a: 1 }, 'told'));

    expect(harness.changes).toMatchObject([
      { name: 'told', status: 'RUNNING', input: '{"a":1}', output: null, stopDate: null },
      { name: 'told', status: 'SUCCEEDED', output: '{"a":1}', stopDate: Date.UTC(2026, 0, 1) },
    ]);
  });
});
