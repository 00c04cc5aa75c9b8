import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../lambdas/core/json.ts';
import { InvalidDefinitionError } from '../../../local/stepfunctions/errors.ts';
import { createHarness, oneTask } from './harness.ts';

function faultsOf(definition: JsonObject | string): readonly { path: string; message: string }[] {
  try {
    createHarness().sfn.addStateMachine({ name: 'machine', definition });
    return [];
  } catch (error) {
    if (error instanceof InvalidDefinitionError) return error.faults;
    throw error;
  }
}

function machine(states: JsonObject, startAt = Object.keys(states)[0] ?? ''): JsonObject {
  return { QueryLanguage: 'JSONata', StartAt: startAt, States: states };
}

const pass = { Type: 'Pass', End: true };
const task = (fields: JsonObject) => oneTask(fields);
const catcher = { ErrorEquals: ['States.ALL'], Next: 'Fallback' };

describe('a definition', () => {
  it.each<[string, JsonObject | string, string, RegExp]>([
    ['is JSONPath', { StartAt: 'A', States: { A: pass } }, '$.States.A', /JSONPath is not supported/],
    [
      'uses a JSONPath field',
      machine({ A: { ...pass, ResultPath: '$.x' } }),
      '$.States.A.ResultPath',
      /JSONPath/,
    ],
    [
      'has a field nobody knows',
      machine({ A: { ...pass, Outptu: 1 } }),
      '$.States.A.Outptu',
      /not supported/,
    ],
    [
      'has a field of the machine nobody knows',
      { ...machine({ A: pass }), Timeout: 1 },
      '$.Timeout',
      /not supported/,
    ],
    [
      'has an unknown state type',
      machine({ A: { Type: 'Loop', End: true } }),
      '$.States.A.Type',
      /not a state type/,
    ],
    ['starts nowhere', machine({ A: pass }, 'B'), '$.StartAt', /no state 'B'/],
    ['leads nowhere', machine({ A: { Type: 'Pass', Next: 'B' } }), '$.States.A', /'B', which does not exist/],
    ['has a catcher that leads nowhere', task({ Catch: [catcher] }), '$.States.Work', /'Fallback'/],
    ['has a state that nothing reaches', machine({ A: pass, B: pass }), '$.States.B', /not reachable/],
    ['has a state without an end', machine({ A: { Type: 'Pass' } }), '$.States.A', /exactly one of 'Next'/],
    [
      'has a state with two ends',
      machine({ A: { ...pass, Next: 'A' } }),
      '$.States.A',
      /exactly one of 'Next'/,
    ],
    [
      'has an expression in Next',
      machine({ A: { Type: 'Pass', Next: '{% 1 %}' } }),
      '$.States.A.Next',
      /no expression/,
    ],
    [
      'has an expression in Resource',
      task({ Resource: '{% 1 %}' }),
      '$.States.Work.Resource',
      /no expression/,
    ],
    [
      'has an expression that does not parse',
      machine({ A: { ...pass, Output: '{% 1 + %}' } }),
      '$.States.A.Output',
      /JSONata/,
    ],
    ['uses ??', machine({ A: { ...pass, Output: '{% $a ?? 1 %}' } }), '$.States.A.Output', /JSONata 2\.0\.6/],
    [
      'has half an expression',
      machine({ A: { ...pass, Output: { x: '{% 1' } } }),
      '$.States.A.Output',
      /does not end/,
    ],
    [
      'reads the result in a Pass',
      machine({ A: { ...pass, Output: '{% $states.result %}' } }),
      '$.States.A.Output',
      /result/,
    ],
    [
      'reads the error outside a Catch',
      task({ Output: '{% $states.errorOutput %}' }),
      '$.States.Work.Output',
      /errorOutput/,
    ],
    [
      'reads the result in Arguments',
      task({ Arguments: { FunctionName: '{% $states.result.x %}' } }),
      '$.States.Work.Arguments',
      /result/,
    ],
    [
      'reads something that $states lacks',
      machine({ A: { ...pass, Output: '{% $states.inptu %}' } }),
      '$.States.A.Output',
      /does not exist/,
    ],
    [
      'has an expression in Retry',
      task({ Retry: [{ ErrorEquals: ['A'], MaxAttempts: '{% 3 %}' }] }),
      '$.States.Work.Retry[0].MaxAttempts',
      /no expression/,
    ],
    [
      'has a retrier without errors',
      task({ Retry: [{ ErrorEquals: [] }] }),
      '$.States.Work.Retry[0].ErrorEquals',
      /non-empty/,
    ],
    [
      'has States.ALL beside another name',
      task({ Retry: [{ ErrorEquals: ['A', 'States.ALL'] }] }),
      '$.States.Work.Retry[0].ErrorEquals',
      /alone and last/,
    ],
    [
      'has States.ALL before another retrier',
      task({ Retry: [{ ErrorEquals: ['States.ALL'] }, { ErrorEquals: ['A'] }] }),
      '$.States.Work.Retry[0].ErrorEquals',
      /alone and last/,
    ],
    [
      'has a BackoffRate below 1',
      task({ Retry: [{ ErrorEquals: ['A'], BackoffRate: 0.5 }] }),
      '$.States.Work.Retry[0].BackoffRate',
      /from 1/,
    ],
    [
      'has a MaxDelaySeconds below its interval',
      task({ Retry: [{ ErrorEquals: ['A'], IntervalSeconds: 5, MaxDelaySeconds: 5 }] }),
      '$.States.Work.Retry[0].MaxDelaySeconds',
      /greater/,
    ],
    [
      'has an unknown jitter',
      task({ Retry: [{ ErrorEquals: ['A'], JitterStrategy: 'HALF' }] }),
      '$.States.Work.Retry[0].JitterStrategy',
      /FULL or NONE/,
    ],
    [
      'has a retrier on a Pass',
      machine({ A: { ...pass, Retry: [] } }),
      '$.States.A.Retry',
      /not supported in a Pass/,
    ],
    [
      'has a heartbeat as long as its time-out',
      task({ TimeoutSeconds: 5, HeartbeatSeconds: 5 }),
      '$.States.Work.HeartbeatSeconds',
      /less than/,
    ],
    [
      'calls an unknown service',
      task({ Resource: 'arn:aws:states:::sns:publish' }),
      '$.States.Work.Resource',
      /sns:publish/,
    ],
    [
      'calls an unknown action',
      task({ Resource: 'arn:aws:states:::aws-sdk:dynamodb:scan' }),
      '$.States.Work.Resource',
      /scan/,
    ],
    [
      'passes a parameter nobody knows',
      task({ Arguments: { FunctionName: 'f', Paylod: 1 } }),
      '$.States.Work.Arguments.Paylod',
      /not supported/,
    ],
    [
      'waits for a job',
      task({ Resource: 'arn:aws:states:::sqs:sendMessage.sync' }),
      '$.States.Work.Resource',
      /\.sync/,
    ],
    [
      'waits for a token that the integration lacks',
      task({ Resource: 'arn:aws:states:::dynamodb:putItem.waitForTaskToken' }),
      '$.States.Work.Resource',
      /no \.waitForTaskToken/,
    ],
    [
      'has a Wait without a time',
      machine({ A: { Type: 'Wait', End: true } }),
      '$.States.A',
      /exactly one of 'Seconds'/,
    ],
    [
      'has a Wait with a time that is none',
      machine({ A: { Type: 'Wait', Timestamp: 'noon', End: true } }),
      '$.States.A.Timestamp',
      /ISO 8601/,
    ],
    [
      'has a distributed Map',
      machine({
        A: {
          Type: 'Map',
          End: true,
          ItemProcessor: {
            ProcessorConfig: { Mode: 'DISTRIBUTED' },
            ...machine({ B: pass }),
            QueryLanguage: 'JSONata',
          },
        },
      }),
      '$.States.A.ItemProcessor.ProcessorConfig.Mode',
      /Distributed Map/,
    ],
    [
      'assigns $states',
      machine({ A: { ...pass, Assign: { states: 1 } } }),
      '$.States.A.Assign.states',
      /variable's name/,
    ],
    [
      'assigns a long name',
      machine({ A: { ...pass, Assign: { ['x'.repeat(81)]: 1 } } }),
      `$.States.A.Assign.${'x'.repeat(81)}`,
      /80/,
    ],
    [
      'assigns an outer variable in a branch',
      machine({
        A: { ...pass, End: false, Next: 'B', Assign: { x: 1 } },
        B: {
          Type: 'Parallel',
          End: true,
          Branches: [{ StartAt: 'C', States: { C: { ...pass, Assign: { x: 2 } } } }],
        },
      }),
      '$.States.B.Branches[0]',
      /outer scope/,
    ],
    [
      'has one name in two branches',
      machine({
        A: {
          Type: 'Parallel',
          End: true,
          Branches: [
            { StartAt: 'C', States: { C: pass } },
            { StartAt: 'C', States: { C: pass } },
          ],
        },
      }),
      '$.States.A.Branches[1].States.C',
      /taken/,
    ],
    ['has a key twice', '{"StartAt":"A","StartAt":"A","States":{}}', '$.StartAt', /definition/],
    ['is no JSON', 'StartAt: A', '$', /JSON/],
  ])('is refused when it %s', (_title, definition, path, message) => {
    const faults = faultsOf(definition);

    expect(faults.map((fault) => fault.path)).toContain(path);
    expect(faults.find((fault) => fault.path === path)?.message).toMatch(message);
  });

  it('is refused with everything that is wrong at once', () => {
    const definition = machine({ A: { Type: 'Pass', Next: 'B', Result: 1 }, C: { Type: 'Wait', End: true } });

    expect(faultsOf(definition).map((fault) => fault.path)).toEqual([
      '$.States.A.Result',
      '$.States.C',
      '$.States.A',
      '$.States.C',
    ]);
  });

  it('says in its error what is wrong and where', () => {
    const load = () =>
      createHarness().sfn.addStateMachine({ name: 'orders', definition: machine({ A: { Type: 'Pass' } }) });

    expect(load).toThrow(/'orders' can't be loaded:\n {2}\$\.States\.A: /);
  });

  it('is accepted when a state overrides the query language', () => {
    const definition = { StartAt: 'A', States: { A: { ...pass, QueryLanguage: 'JSONata' } } };

    expect(faultsOf(definition)).toEqual([]);
  });

  it('can be replaced while executions run on the old one', async () => {
    const waiting = {
      Rest: { Type: 'Wait', Seconds: 60, Next: 'Done' },
      Done: { Type: 'Pass', Output: 'old', End: true },
    };
    const harness = createHarness(machine(waiting));
    const arn = await harness.start({}, 'old');
    await harness.advance(0);

    harness.sfn.addStateMachine({
      name: 'machine',
      definition: machine({ New: { ...pass, Output: 'new' } }),
    });
    const newer = await harness.start({}, 'new');

    expect((await harness.finish(arn)).output).toBe('"old"');
    expect((await harness.finish(newer)).output).toBe('"new"');
    const described = await harness.call('DescribeStateMachineForExecution', { executionArn: arn });
    expect(JSON.parse(String(described.definition))).toEqual(machine(waiting));
  });

  it('stays as it is when its replacement is refused', async () => {
    const harness = createHarness(machine({ A: { ...pass, Output: 'first' } }));

    expect(() =>
      harness.sfn.addStateMachine({ name: 'machine', definition: machine({ B: { Type: 'Pass' } }) }),
    ).toThrow();

    expect((await harness.finish(await harness.start())).output).toBe('"first"');
  });
});
