import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DescribeStateMachineCommand, DescribeStateMachineForExecutionCommand } from '@aws-sdk/client-sfn';
import { describe, expect, it, onTestFinished } from 'vitest';
import { deadlineEnvelope } from '../helpers/envelopes.ts';
import { startWorker } from '../helpers/worker.ts';

const KEY = 'case:CASE-123:deadline:v4';

describe('a data directory', () => {
  it.each([
    ['state.json', 'dynamodb/dynamodb.ndjson'],
    ['dynamodb/dynamodb.ndjson', 'state.json'],
  ])('is refused when %s was deleted and %s is there', async (lost, found) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'stepwell-'));
    onTestFinished(() => rm(dataDir, { recursive: true }));
    const first = await startWorker({ dataDir });
    await first.send(deadlineEnvelope());
    await first.untilIdle();
    await first.stop();
    await rm(join(dataDir, lost));

    await expect(startWorker({ dataDir })).rejects.toThrow(
      `${join(dataDir, lost)} is missing, although ${join(dataDir, found)} is there`,
    );
  });

  it('holds both halves as soon as the runtime stands, so that a crash leaves no half of it', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'stepwell-'));
    onTestFinished(() => rm(dataDir, { recursive: true }));

    await startWorker({ dataDir });

    expect((await readdir(dataDir)).sort()).toEqual(['dynamodb', 'state.json']);
  });

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
