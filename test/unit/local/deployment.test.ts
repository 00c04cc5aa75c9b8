import { DescribeStateMachineCommand, SFNClient } from '@aws-sdk/client-sfn';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock, systemId, systemRandom } from '../../../lambdas/aws/system.ts';
import type { Deployment, DeploymentPlace } from '../../../local/deployment.ts';
import { startRuntime } from '../../../local/runtime.ts';

const definition = (comment: string) =>
  JSON.stringify({
    QueryLanguage: 'JSONata',
    Comment: comment,
    StartAt: 'Done',
    States: { Done: { Type: 'Succeed' } },
  });

/** A deployment whose starter tells of its messages. */
function deployed(name: string, seen: string[]): Deployment & { stopped: boolean } {
  const made = {
    functions: {
      starter: {
        timeoutSeconds: 30,
        handler: async (event: { readonly Records: readonly { readonly body: string }[] }) => {
          seen.push(...event.Records.map(({ body }) => `${name}: ${body}`));
          return { batchItemFailures: [] };
        },
      },
    },
    definition: definition(name),
    streamFilters: [],
    stopped: false,
    async stop() {
      made.stopped = true;
    },
  };
  return made;
}

const start = (deployment: (place: DeploymentPlace) => Deployment) =>
  startRuntime({
    clock: systemClock,
    random: systemRandom,
    newId: systemId,
    sweepSeconds: 0,
    deployment,
  });

describe('a runtime with a deployment', () => {
  it('runs its functions and its definition, and another’s once that is deployed', async () => {
    const seen: string[] = [];
    const [first, second] = [deployed('first', seen), deployed('second', seen)];
    let endpoint = '';
    const runtime = await start((place) => {
      endpoint = place.endpoint;
      return first;
    });
    onTestFinished(() => runtime.stop());
    const { queueUrl, stateMachineArn } = runtime.names;
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    const outside = new SFNClient({ endpoint, region: 'us-east-1', credentials });
    const sendAndWait = async (body: string) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const stopListening = runtime.onChange(() => {
        if (seen.some((line) => line.endsWith(body)) && runtime.isIdle()) resolve();
      });
      await runtime.clients.sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: body }));
      await promise;
      stopListening();
    };
    const described = () => outside.send(new DescribeStateMachineCommand({ stateMachineArn }));

    await sendAndWait('one');
    expect((await described()).definition).toBe(first.definition);
    runtime.deploy(second);
    await sendAndWait('two');
    expect((await described()).definition).toBe(second.definition);

    expect(seen).toEqual(['first: one', 'second: two']);
  });

  it('stops what it was given when it stops', async () => {
    const deployment = deployed('any', []);
    const runtime = await start(() => deployment);
    expect(deployment.stopped).toBe(false);
    await runtime.stop();
    expect(deployment.stopped).toBe(true);
  });

  it('leaves no listener behind when nothing can be deployed', async () => {
    let endpoint = '';
    const starting = start((place) => {
      endpoint = place.endpoint;
      throw new Error('no such template');
    });

    await expect(starting).rejects.toThrow('no such template');
    await expect(fetch(endpoint)).rejects.toThrow();
  });
});
