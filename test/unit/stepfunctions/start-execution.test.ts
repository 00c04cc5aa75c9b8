import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createHarness, machineArn, oneTask, thrown } from './harness.ts';

const DAY = 86_400_000;
const waiting = {
  QueryLanguage: 'JSONata',
  StartAt: 'Rest',
  States: { Rest: { Type: 'Wait', Seconds: 60, End: true } },
};
const request = { stateMachineArn: machineArn(), name: 'one', input: '{"a":1}' };

describe('StartExecution', () => {
  it('answers the same name and input with the first answer while it runs', async () => {
    const harness = createHarness(waiting);
    const first = await harness.call('StartExecution', request);
    await harness.advance(1_000);

    const again = await harness.call('StartExecution', request);

    expect(again).toEqual(first);
    expect((await harness.call('ListExecutions', { stateMachineArn: machineArn() })).executions).toHaveLength(
      1,
    );
  });

  it('refuses another input under the name of a running execution', async () => {
    const harness = createHarness(waiting);
    await harness.call('StartExecution', request);

    expect(await harness.refusal('StartExecution', { ...request, input: '{"a":2}' })).toBe(
      'ExecutionAlreadyExists',
    );
  });

  it.each(['SUCCEEDED', 'FAILED'])(
    'refuses the name of an execution that %s, whatever the input',
    async (status) => {
      const harness = createHarness(oneTask(), {
        lambda: (payload) => (status === 'FAILED' ? thrown('Broken') : { payload }),
      });
      const { executionArn } = await harness.call('StartExecution', request);
      expect((await harness.finish(String(executionArn))).status).toBe(status);

      expect(await harness.refusal('StartExecution', request)).toBe('ExecutionAlreadyExists');
      expect(await harness.refusal('StartExecution', { ...request, input: '{}' })).toBe(
        'ExecutionAlreadyExists',
      );
    },
  );

  it('frees the name 90 days after the execution closed', async () => {
    const harness = createHarness(oneTask());
    const { executionArn } = await harness.call('StartExecution', request);
    await harness.finish(String(executionArn));
    await harness.advance(90 * DAY - 1);
    expect(await harness.refusal('StartExecution', request)).toBe('ExecutionAlreadyExists');

    await harness.advance(1);
    const again = await harness.call('StartExecution', request);

    expect(again.executionArn).toBe(executionArn);
    const { executions } = await harness.call('ListExecutions', { stateMachineArn: machineArn() });
    expect(executions).toHaveLength(1);
  });

  it.each(['', 'a b', 'a/b', 'a:b', 'a\u0000b', 'a\ud800', 'a\u{1f600}', 'x'.repeat(81)])(
    'refuses the name %j',
    async (name) => {
      const harness = createHarness(waiting);

      expect(await harness.refusal('StartExecution', { ...request, name })).toBe('InvalidName');
    },
  );

  it('takes every name of the characters that are safe everywhere', async () => {
    const harness = createHarness(oneTask());
    const name = fc.stringMatching(/^[0-9A-Za-z_-]{1,80}$/);
    await fc.assert(
      fc.asyncProperty(name, async (candidate) => {
        const refusal = await harness.refusal('StartExecution', { ...request, name: candidate });
        return refusal === 'no error' || refusal === 'ExecutionAlreadyExists';
      }),
      { numRuns: 50 },
    );
  });

  it('makes a name when none is given', async () => {
    const harness = createHarness(waiting);

    const { executionArn } = await harness.call('StartExecution', { stateMachineArn: machineArn() });

    expect(executionArn).toMatch(/:execution:machine:[0-9a-f-]{36}$/);
  });

  it.each([
    ['{', 'InvalidExecutionInput'],
    [JSON.stringify('x'.repeat(262_143)), 'ValidationException'],
    [JSON.stringify('é'.repeat(131_072)), 'ValidationException'],
    [JSON.stringify('x'.repeat(262_142)), 'no error'],
  ])('checks input that begins with %.6s', async (input, expected) => {
    const harness = createHarness(waiting);

    expect(await harness.refusal('StartExecution', { ...request, input })).toBe(expected);
  });

  it('refuses a machine that is not there', async () => {
    const stateMachineArn = machineArn('other');

    expect(await createHarness(waiting).refusal('StartExecution', { stateMachineArn })).toBe(
      'StateMachineDoesNotExist',
    );
  });

  it('throttles when the bucket is empty, and refills it with time', async () => {
    const harness = createHarness(waiting, {
      throttles: { startExecution: { bucket: 3, refillPerSecond: 2 } },
    });
    const start = (name: string) => harness.refusal('StartExecution', { ...request, name });

    const burst = [await start('a'), await start('b'), await start('c'), await start('d')];
    await harness.advance(1_000);
    const later = [await start('d'), await start('e'), await start('f')];

    expect(burst).toEqual(['no error', 'no error', 'no error', 'ThrottlingException']);
    expect(later).toEqual(['no error', 'no error', 'ThrottlingException']);
  });
});
