import { DescribeStateMachineCommand, DescribeStateMachineForExecutionCommand } from '@aws-sdk/client-sfn';
import { Duration } from 'aws-cdk-lib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { messages as after } from '../helpers/deployed-messages/after.ts';
import { messages as before } from '../helpers/deployed-messages/before.ts';
import { type SynthesisedWorker, synthesiseWorker } from '../helpers/deployed-template.ts';
import { type DeployedWorker, startDeployed } from '../helpers/deployed-worker.ts';
import { removeFolder } from '../helpers/folders.ts';
import { probeEnvelope } from '../helpers/probe.ts';

const entry = (name: string) => new URL(`../helpers/deployed-messages/${name}.ts`, import.meta.url).pathname;

let first: SynthesisedWorker;
let second: SynthesisedWorker;
let worker: DeployedWorker;

beforeAll(() => {
  first = synthesiseWorker({ workerName: 'stepwell', messages: before, messagesEntry: entry('before') });
  second = synthesiseWorker({
    workerName: 'stepwell',
    messages: after,
    messagesEntry: entry('after'),
    executionTimeout: Duration.days(6),
  });
});

afterAll(async () => {
  await worker.end();
  for (const { folder } of [first, second]) removeFolder(folder);
});

const ordered = (aggregateVersion: number) =>
  probeEnvelope({ messageType: 'Ordered', idempotencyKey: `ordered-${aggregateVersion}`, aggregateVersion });

async function definition(): Promise<string | undefined> {
  const { stateMachineArn } = worker.names;
  return (await worker.clients.sfn.send(new DescribeStateMachineCommand({ stateMachineArn }))).definition;
}

describe('a deployment of new bundles and a new definition', () => {
  it('lets executions that wait go on with the new code', async () => {
    worker = await startDeployed(first);
    const oldDefinition = await definition();
    await worker.send(ordered(2));
    await worker.send(
      probeEnvelope({ messageType: 'Unready', idempotencyKey: 'unready', aggregateId: 'unready' }),
    );
    await worker.untilIn('ordered-2', 'Park');
    await worker.untilIn('unready', 'BackOff');

    worker.redeploy(second);
    expect(await definition()).not.toBe(oldDefinition);
    await worker.send(ordered(1));
    await worker.untilIdle();

    const { arn: executionArn } = await worker.execution('ordered-2');
    const own = await worker.clients.sfn.send(new DescribeStateMachineForExecutionCommand({ executionArn }));
    expect(own.definition).toBe(oldDefinition);
    for (const key of ['ordered-1', 'ordered-2', 'unready']) {
      expect(await worker.execution(key)).toMatchObject({ status: 'SUCCEEDED' });
    }
    expect(await worker.aggregate('probe', '1')).toMatchObject({ by: 'after', 'version#Ordered': 2 });
    expect(await worker.aggregate('probe', 'unready')).toMatchObject({ by: 'after' });
  });
});
