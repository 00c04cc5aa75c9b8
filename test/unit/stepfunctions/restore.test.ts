import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../lambdas/core/json.ts';
import type { Snapshot } from '../../../local/stepfunctions/snapshot.ts';
import { createHarness, type Harness, type HarnessOptions, machineArn, oneTask, thrown } from './harness.ts';

/** Ends the runtime where it stands and starts another from what it saved, as text. */
function restart(harness: Harness, options: HarnessOptions = {}): Harness {
  harness.sfn.halt();
  const text = JSON.stringify(harness.sfn.snapshot());
  const next = createHarness(undefined, { clock: harness.clock, ...options });
  const snapshot: Snapshot = JSON.parse(text);
  next.sfn.restore(snapshot);
  return next;
}

function machine(states: JsonObject): JsonObject {
  return { QueryLanguage: 'JSONata', StartAt: Object.keys(states)[0] ?? '', States: states };
}

describe('restore', () => {
  it('keeps executions that have ended, with their history', async () => {
    const before = createHarness(oneTask());
    const arn = await before.start({ a: 1 });
    const end = await before.finish(arn);
    const events = await before.events(arn);

    const after = restart(before);

    expect(await after.call('DescribeExecution', { executionArn: arn })).toEqual(end);
    expect(await after.events(arn)).toEqual(events);
    const again = { stateMachineArn: machineArn(), name: String(end.name), input: '{"a":1}' };
    expect(await after.refusal('StartExecution', again)).toBe('ExecutionAlreadyExists');
  });

  it('ends a Wait when it would have ended', async () => {
    const before = createHarness(
      machine({ Rest: { Type: 'Wait', Seconds: 600, Next: 'Done' }, Done: { Type: 'Succeed' } }),
    );
    const start = before.clock.now();
    const arn = await before.start();
    await before.advance(400_000);

    const after = restart(before);
    const end = await after.finish(arn);

    expect(end.status).toBe('SUCCEEDED');
    expect(after.clock.now() - start).toBe(600_000);
    expect(await after.types(arn)).toEqual([
      'ExecutionStarted',
      'WaitStateEntered',
      'WaitStateExited',
      'SucceedStateEntered',
      'SucceedStateExited',
      'ExecutionSucceeded',
    ]);
  });

  it('calls a task again that was under way, and bills it once', async () => {
    const before = createHarness(oneTask({ TimeoutSeconds: 60 }), { lambda: () => new Promise(() => {}) });
    const arn = await before.start('again');
    await before.advance(59_000);

    const after = restart(before);
    const end = await after.finish(arn);

    expect(end.output).toBe('"again"');
    expect(after.sfn.billedTransitions(arn)).toBe(1);
  });

  it('goes on waiting for a retry, with the attempts spent', async () => {
    const retry = [{ ErrorEquals: ['Busy'], IntervalSeconds: 100, MaxAttempts: 1 }];
    const before = createHarness(oneTask({ Retry: retry }), { lambda: () => thrown('Busy') });
    const start = before.clock.now();
    const arn = await before.start();
    await before.advance(50_000);

    const after = restart(before, { lambda: () => thrown('Busy') });
    const end = await after.finish(arn);

    expect(end.error).toBe('Busy');
    expect(after.clock.now() - start).toBe(100_000);
  });

  it('keeps task tokens valid, with their deadline', async () => {
    let token = '';
    const options: HarnessOptions = {
      aws: async (_service, _action, parameters) => {
        token = JSON.stringify(parameters).match(/"S":"([^"]+)"/)?.[1] ?? '';
        return {};
      },
    };
    const state = {
      Type: 'Task',
      Resource: 'arn:aws:states:::aws-sdk:dynamodb:putItem.waitForTaskToken',
      Arguments: { TableName: 't', Item: { token: { S: '{% $states.context.Task.Token %}' } } },
      TimeoutSeconds: 600,
      End: true,
    };
    const before = createHarness(machine({ Ask: state }), options);
    const start = before.clock.now();
    const answered = await before.start({}, 'answered');
    await before.advance(1_000);
    const first = token;
    const forgotten = await before.start({}, 'forgotten');
    await before.advance(1_000);

    const after = restart(before, options);
    await after.advance(0);
    await after.call('SendTaskSuccess', { taskToken: first, output: '"yes"' });

    expect((await after.finish(answered)).output).toBe('"yes"');
    expect((await after.finish(forgotten)).error).toBe('States.Timeout');
    expect(after.clock.now() - start).toBe(601_000);
  });

  it('goes on with the branches and iterations that had not ended', async () => {
    const calls: JsonValue[] = [];
    const { QueryLanguage: _, ...processor } = oneTask();
    const definition = machine({
      Each: { Type: 'Map', Items: [1, 2, 3], MaxConcurrency: 1, ItemProcessor: processor, End: true },
    });
    const before = createHarness(definition, {
      lambda: (payload) => {
        calls.push(payload);
        return payload === 2 ? new Promise(() => {}) : { payload };
      },
    });
    const arn = await before.start();
    await before.advance(0);

    const after = restart(before, {
      lambda: (payload) => {
        calls.push(payload);
        return { payload };
      },
    });
    const end = await after.finish(arn);

    expect(calls).toEqual([1, 2, 2, 3]);
    expect(end.output).toBe('[1,2,3]');
  });

  it('lets old executions finish on their definition when the machine comes with a new one', async () => {
    const before = createHarness(
      machine({
        Rest: { Type: 'Wait', Seconds: 60, Next: 'Old' },
        Old: { Type: 'Pass', Output: 'old', End: true },
      }),
    );
    const arn = await before.start();
    await before.advance(0);
    before.sfn.halt();

    const after = createHarness(machine({ New: { Type: 'Pass', Output: 'new', End: true } }), {
      clock: before.clock,
    });
    after.sfn.restore(before.sfn.snapshot());

    expect((await after.finish(arn)).output).toBe('"old"');
    expect((await after.finish(await after.start())).output).toBe('"new"');
  });

  it('redrives what had failed before', async () => {
    const before = createHarness(oneTask(), { lambda: () => thrown('Broken') });
    const arn = await before.start('x');
    await before.finish(arn);

    const after = restart(before);
    await after.call('RedriveExecution', { executionArn: arn });

    expect((await after.finish(arn)).output).toBe('"x"');
  });
});
