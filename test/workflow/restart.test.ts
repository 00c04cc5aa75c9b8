import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DescribeStateMachineCommand, DescribeStateMachineForExecutionCommand } from '@aws-sdk/client-sfn';
import { describe, expect, it, onTestFinished } from 'vitest';
import { deadlineEnvelope } from '../helpers/envelopes.ts';
import { startWorker } from '../helpers/worker.ts';

const KEY = 'case:CASE-123:deadline:v4';

describe('a data directory', () => {
  it('lets an execution finish on its own definition when the runtime starts again with another one', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'stepwell-'));
    onTestFinished(() => rm(dataDir, { recursive: true }));
    const first = await startWorker({ dataDir, numbers: { planTimeoutSeconds: 61 } });
    await first.send(
      deadlineEnvelope({ attemptPolicy: { notBefore: new Date(first.clock.now() + 60_000).toISOString() } }),
    );
    await first.until(async () => (await first.executions('RUNNING')) === 1);
    const { arn } = await first.execution(KEY);
    await first.stop();

    const second = await startWorker({ dataDir, numbers: { planTimeoutSeconds: 62 } });
    await second.untilIdle();

    expect((await second.execution(KEY)).status).toBe('SUCCEEDED');
    expect(await second.inbox(KEY)).toMatchObject({ status: 'COMPLETED' });
    const planTimeout = (definition: string | undefined): number =>
      JSON.parse(definition ?? '{}').States.Plan.TimeoutSeconds;
    const { sfn } = second.clients;
    const own = await sfn.send(new DescribeStateMachineForExecutionCommand({ executionArn: arn }));
    const current = await sfn.send(
      new DescribeStateMachineCommand({ stateMachineArn: second.names.stateMachineArn }),
    );
    expect([planTimeout(own.definition), planTimeout(current.definition)]).toEqual([61, 62]);
  });
});
