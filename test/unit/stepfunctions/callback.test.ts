import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../lambdas/core/json.ts';
import { StateError } from '../../../local/stepfunctions/errors.ts';
import { createHarness, type HarnessOptions, oneTask, thrown } from './harness.ts';

const definition = (fields: JsonObject = {}) => ({
  QueryLanguage: 'JSONata',
  StartAt: 'Ask',
  States: {
    Ask: {
      Type: 'Task',
      Resource: 'arn:aws:states:::aws-sdk:dynamodb:putItem.waitForTaskToken',
      Arguments: { TableName: 'waiters', Item: { token: { S: '{% $states.context.Task.Token %}' } } },
      End: true,
      ...fields,
    },
  },
});

/** A machine that waits for a callback; `token` gives the newest token that was handed over. */
function waiting(fields: JsonObject = {}, options: HarnessOptions = {}) {
  const tokens: string[] = [];
  const harness = createHarness(definition(fields), {
    aws: async (_service, _action, parameters) => {
      const token = JSON.stringify(parameters).match(/"S":"([^"]+)"/)?.[1];
      tokens.push(token ?? 'none');
      return {};
    },
    ...options,
  });
  return { ...harness, tokens, token: () => tokens.at(-1) ?? 'none' };
}

describe('a task that waits for a callback', () => {
  it('goes on with the output that SendTaskSuccess gives', async () => {
    const harness = waiting();
    const arn = await harness.start();
    await harness.advance(0);

    await harness.call('SendTaskSuccess', { taskToken: harness.token(), output: '{"done":true}' });
    const end = await harness.finish(arn);

    expect(end.output).toBe('{"done":true}');
    expect(await harness.types(arn)).toEqual([
      'ExecutionStarted',
      'TaskStateEntered',
      'TaskScheduled',
      'TaskStarted',
      'TaskSubmitted',
      'TaskSucceeded',
      'TaskStateExited',
      'ExecutionSucceeded',
    ]);
  });

  it('fails with the error and cause that SendTaskFailure gives', async () => {
    const harness = waiting();
    const arn = await harness.start();
    await harness.advance(0);

    await harness.call('SendTaskFailure', { taskToken: harness.token(), error: 'Refused', cause: 'no' });
    const end = await harness.finish(arn);

    expect([end.status, end.error, end.cause]).toEqual(['FAILED', 'Refused', 'no']);
  });

  it('takes an answer that comes before the service has answered the call', async () => {
    let answerEarly = async (_token: string): Promise<void> => {};
    const harness = waiting(
      {},
      {
        aws: async (_service, _action, parameters) => {
          await answerEarly(JSON.stringify(parameters).match(/"S":"([^"]+)"/)?.[1] ?? 'none');
          return {};
        },
      },
    );
    answerEarly = async (taskToken) => {
      await harness.call('SendTaskSuccess', { taskToken, output: '"early"' });
    };

    const end = await harness.finish(await harness.start());

    expect(end.output).toBe('"early"');
  });

  it('fails when the token could not be handed over', async () => {
    const harness = waiting(
      {},
      {
        aws: async () => {
          throw new StateError('DynamoDb.ConditionalCheckFailedException', 'The conditional request failed');
        },
      },
    );

    const end = await harness.finish(await harness.start());

    expect(end.error).toBe('DynamoDb.ConditionalCheckFailedException');
  });

  it('makes a new token for each attempt', async () => {
    const retry = [{ ErrorEquals: ['Refused'], IntervalSeconds: 1 }];
    const harness = waiting({ Retry: retry });
    const arn = await harness.start();
    await harness.advance(0);
    const first = harness.token();
    await harness.call('SendTaskFailure', { taskToken: first, error: 'Refused' });
    await harness.advance(1_000);

    expect(harness.tokens).toHaveLength(2);
    expect(await harness.refusal('SendTaskSuccess', { taskToken: first, output: '1' })).toBe('TaskTimedOut');
    await harness.call('SendTaskSuccess', { taskToken: harness.token(), output: '2' });
    expect((await harness.finish(arn)).output).toBe('2');
  });
});

describe('a task token', () => {
  it('is TaskTimedOut when it was answered before', async () => {
    const harness = waiting();
    const arn = await harness.start();
    await harness.advance(0);
    await harness.call('SendTaskSuccess', { taskToken: harness.token(), output: '1' });

    expect(await harness.refusal('SendTaskSuccess', { taskToken: harness.token(), output: '2' })).toBe(
      'TaskTimedOut',
    );
    expect((await harness.finish(arn)).output).toBe('1');
  });

  it('is TaskTimedOut when the task timed out', async () => {
    const harness = waiting({ TimeoutSeconds: 10 });
    const arn = await harness.start();
    await harness.finish(arn);

    for (const action of ['SendTaskSuccess', 'SendTaskFailure', 'SendTaskHeartbeat']) {
      expect(await harness.refusal(action, { taskToken: harness.token(), output: '1' })).toBe('TaskTimedOut');
    }
  });

  it('is TaskDoesNotExist when its execution is unknown', async () => {
    const other = waiting();
    await other.start();
    await other.advance(0);

    const refusal = await waiting().refusal('SendTaskHeartbeat', { taskToken: other.token() });

    expect(refusal).toBe('TaskDoesNotExist');
  });

  it.each(['x', 'bm90IGEgdG9rZW4', '{}'])('is InvalidToken when it is %s', async (taskToken) => {
    expect(await waiting().refusal('SendTaskHeartbeat', { taskToken })).toBe('InvalidToken');
  });

  it('needs output that is JSON and fits', async () => {
    const harness = waiting();
    await harness.start();
    await harness.advance(0);
    const taskToken = harness.token();

    expect(await harness.refusal('SendTaskSuccess', { taskToken, output: '{' })).toBe('InvalidOutput');
    const big = JSON.stringify('x'.repeat(262_143));
    expect(await harness.refusal('SendTaskSuccess', { taskToken, output: big })).toBe('ValidationException');
    await harness.call('SendTaskSuccess', { taskToken, output: '1' });
  });
});

describe('HeartbeatSeconds', () => {
  it('ends the task when no heartbeat comes', async () => {
    const harness = waiting({ HeartbeatSeconds: 60, TimeoutSeconds: 600 });
    const start = harness.clock.now();

    const end = await harness.finish(await harness.start());

    expect(end.error).toBe('States.HeartbeatTimeout');
    expect(harness.clock.now() - start).toBe(60_000);
  });

  it('starts anew at each heartbeat, while the time-out does not', async () => {
    const harness = waiting({ HeartbeatSeconds: 60, TimeoutSeconds: 100 });
    const start = harness.clock.now();
    const arn = await harness.start();
    await harness.advance(50_000);
    await harness.call('SendTaskHeartbeat', { taskToken: harness.token() });

    const end = await harness.finish(arn);

    expect(end.error).toBe('States.Timeout');
    expect(harness.clock.now() - start).toBe(100_000);
  });

  it('is a time-out to Retry and Catch', async () => {
    const harness = waiting({
      HeartbeatSeconds: 5,
      Retry: [{ ErrorEquals: ['States.Timeout'], IntervalSeconds: 1, MaxAttempts: 1 }],
    });

    const arn = await harness.start();
    await harness.finish(arn);

    expect(harness.tokens).toHaveLength(2);
  });
});

describe('an error that a callback or a function gives', () => {
  it('is refused by SendTaskFailure when it is too long', async () => {
    const harness = waiting();
    await harness.start();
    await harness.advance(0);
    const taskToken = harness.token();

    expect(await harness.refusal('SendTaskFailure', { taskToken, error: 'x'.repeat(257) })).toBe(
      'ValidationException',
    );
    expect(await harness.refusal('SendTaskFailure', { taskToken, cause: 'x'.repeat(32_769) })).toBe(
      'ValidationException',
    );
    expect(await harness.refusal('SendTaskFailure', { taskToken, cause: 'x'.repeat(32_768) })).toBe(
      'no error',
    );
  });

  it('is cut when a function gives a longer cause', async () => {
    const harness = createHarness(oneTask(), { lambda: () => thrown('Long', 'x'.repeat(40_000)) });

    const end = await harness.finish(await harness.start());

    expect(String(end.cause)).toHaveLength(32_768);
  });
});
