import { describe, expect, it } from 'vitest';
import { createHarness, oneTask } from './harness.ts';

const never = () => new Promise<never>(() => {});

describe('TimeoutSeconds', () => {
  it('ends a task that takes too long, without a cause', async () => {
    const harness = createHarness(oneTask({ TimeoutSeconds: 30 }), { lambda: never });
    const start = harness.clock.now();

    const arn = await harness.start();
    const end = await harness.finish(arn);

    expect([end.status, end.error, end.cause]).toEqual(['FAILED', 'States.Timeout', undefined]);
    expect(harness.clock.now() - start).toBe(30_000);
    const timedOut = (await harness.events(arn)).find((event) => event.type === 'TaskTimedOut');
    expect(timedOut?.taskTimedOutEventDetails).toEqual({
      resourceType: 'lambda',
      resource: 'invoke',
      error: 'States.Timeout',
    });
  });

  it('takes an expression, and shows its value in the history', async () => {
    const harness = createHarness(oneTask({ TimeoutSeconds: '{% $states.input.limit * 2 %}' }), {
      lambda: never,
    });

    const arn = await harness.start({ limit: 10 });
    await harness.finish(arn);

    const scheduled = (await harness.events(arn)).find((event) => event.type === 'TaskScheduled');
    expect(scheduled?.taskScheduledEventDetails).toMatchObject({ timeoutInSeconds: 20 });
  });

  it.each([
    ['{% 0 %}', 'must be an integer from 1'],
    ['{% 1.5 %}', 'must be an integer from 1'],
    ["{% 'soon' %}", "Expected 'number', but was 'string'"],
  ])('refuses %s when it is evaluated', async (expression, reason) => {
    const harness = createHarness(oneTask({ TimeoutSeconds: expression }));

    const end = await harness.finish(await harness.start());

    expect(end.error).toBe('States.QueryEvaluationError');
    expect(end.cause).toContain(reason);
  });

  it('ends the whole execution as TIMED_OUT when the machine has one', async () => {
    const definition = {
      QueryLanguage: 'JSONata',
      TimeoutSeconds: 60,
      StartAt: 'Rest',
      States: { Rest: { Type: 'Wait', Seconds: 3600, End: true } },
    };
    const harness = createHarness(definition);

    const arn = await harness.start();
    const end = await harness.finish(arn);

    expect([end.status, end.error]).toEqual(['TIMED_OUT', 'States.Timeout']);
    expect((await harness.types(arn)).at(-1)).toBe('ExecutionTimedOut');
    expect(harness.clock.nextTimer()).toBeUndefined();
    expect(harness.changes.map((change) => change.status)).toEqual(['RUNNING', 'TIMED_OUT']);
  });

  it('leaves no timer behind when the task ends in time', async () => {
    const harness = createHarness({ ...oneTask({ TimeoutSeconds: 30 }), TimeoutSeconds: 600 });

    await harness.finish(await harness.start());

    expect(harness.clock.nextTimer()).toBeUndefined();
  });
});

describe('Wait', () => {
  const waitFor = (fields: Record<string, string | number>) => ({
    QueryLanguage: 'JSONata',
    StartAt: 'Rest',
    States: { Rest: { Type: 'Wait', End: true, ...fields } },
  });

  it('waits the seconds that its expression gives', async () => {
    const harness = createHarness(waitFor({ Seconds: '{% $states.input.delay %}' }));
    const start = harness.clock.now();

    await harness.finish(await harness.start({ delay: 90 }));

    expect(harness.clock.now() - start).toBe(90_000);
  });

  it('ends at once when the time has passed', async () => {
    const harness = createHarness(waitFor({ Timestamp: '2020-02-29T12:00:00.5+02:00' }));
    const start = harness.clock.now();

    const end = await harness.finish(await harness.start());

    expect(end.status).toBe('SUCCEEDED');
    expect(harness.clock.now()).toBe(start);
  });

  it('waits longer than a timer of Node can', async () => {
    const harness = createHarness(waitFor({ Seconds: 40 * 86_400 }));
    const start = harness.clock.now();

    await harness.finish(await harness.start());

    expect(harness.clock.now() - start).toBe(40 * 86_400_000);
  });

  it('fails when the time is too far away', async () => {
    const harness = createHarness(waitFor({ Timestamp: '9999-01-01T00:00:00Z' }));

    const end = await harness.finish(await harness.start());

    expect(end.cause).toContain('Wait state delay is too long.');
  });

  it.each(['2026-02-30T00:00:00Z', '2026-01-01T24:00:00Z', '2026-01-01'])('refuses %s', async (text) => {
    const harness = createHarness(waitFor({ Timestamp: `{% '${text}' %}` }));

    const end = await harness.finish(await harness.start());

    expect(end.error).toBe('States.QueryEvaluationError');
  });

  it('is one timer and no polling', async () => {
    const harness = createHarness(waitFor({ Seconds: 1000 }));
    const start = harness.clock.now();

    await harness.start();
    await harness.advance(999_000);

    expect(harness.clock.nextTimer()).toBe(start + 1_000_000);
  });
});
