import { describe, expect, it } from 'vitest';
import { createHandler } from '../../../lambdas/commit/handler.ts';
import { RoutedError } from '../../../lambdas/core/commit-errors.ts';
import { DEFAULT_ATTEMPTS } from '../../../lambdas/core/execution.ts';
import { countRouted } from '../../../lambdas/core/routed-errors.ts';
import { SILENT, type Telemetry } from '../../../lambdas/core/telemetry.ts';
import { ReportedFailure } from '../../../lambdas/report-failure/report-failure.ts';

const counted = () => {
  const metrics: unknown[] = [];
  const telemetry: Telemetry = {
    ...SILENT,
    metric: (name, value, dimensions) => metrics.push([name, value, dimensions]),
  };
  return { metrics, telemetry };
};

describe('countRouted', () => {
  it('counts an error that the definition routes by, under the function that threw it', () => {
    const { metrics, telemetry } = counted();
    countRouted(new RoutedError('OutOfOrder'), 'Commit', telemetry);
    expect(metrics).toEqual([['RoutedErrors', 1, { function: 'Commit' }]]);
  });

  it('does not count a fault', () => {
    const { metrics, telemetry } = counted();
    countRouted(new TypeError('undefined is not a function'), 'Commit', telemetry);
    countRouted('thrown', 'Commit', telemetry);
    expect(metrics).toEqual([]);
  });

  it('counts a failure that ReportFailure reports', () => {
    const { metrics, telemetry } = counted();
    const envelope = {
      messageId: 'm',
      schemaVersion: 1,
      messageType: 'Probe',
      producer: 'p',
      occurredAt: '2026-01-01T00:00:00Z',
      idempotencyKey: 'k',
      aggregateType: 'probe',
      aggregateId: '1',
    };
    const failure = new ReportedFailure(
      { failure: { code: 'X', message: 'm', kind: 'terminal' }, attempts: 1, redriveCount: 0 },
      {
        Id: 'arn',
        Name: 'n',
        StartTime: '2026-01-01T00:00:00Z',
        RedriveCount: 0,
        Input: { envelope, requestHash: 'a', policy: { ...DEFAULT_ATTEMPTS, terminalAfterCodes: [] } },
      },
    );
    countRouted(failure, 'ReportFailure', telemetry);
    expect(metrics).toHaveLength(1);
  });
});

describe('Commit’s handler', () => {
  const request = JSON.parse(
    '{"decision":{"planVersion":1,"decision":"OutOfOrder"},"execution":{"Id":"arn","Name":"n","StartTime":"2026-01-01T00:00:00Z"}}',
  );
  const handlerWith = (telemetry: Telemetry, readAside: () => Promise<never>) =>
    createHandler({
      worker: 'w',
      inboxTtlSeconds: 1,
      outboxTtlSeconds: 1,
      readAside,
      transact: async () => ({ outcome: 'committed' }),
      clock: { now: () => 0, sleep: async () => undefined },
      telemetry,
    });

  it('counts what it throws to route an execution', async () => {
    const { metrics, telemetry } = counted();
    const handler = handlerWith(telemetry, () => Promise.reject(new Error('not asked')));
    await expect(handler(request)).rejects.toMatchObject({ name: 'OutOfOrder' });
    expect(metrics).toContainEqual(['RoutedErrors', 1, { function: 'Commit' }]);
  });

  it('does not count what goes wrong in it', async () => {
    const { metrics, telemetry } = counted();
    const handler = handlerWith(telemetry, () => Promise.reject(new TypeError('a bug')));
    await expect(handler({ ...request, decision: undefined })).rejects.toThrow(TypeError);
    expect(metrics).toEqual([]);
  });
});
