import {
  DescribeExecutionCommand,
  DescribeStateMachineCommand,
  ExecutionDoesNotExist,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  ListStateMachinesCommand,
  paginateGetExecutionHistory,
  paginateListExecutions,
  SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inProcessClientConfig } from '../../../local/edge/client-config.ts';
import type { EdgeServer } from '../../../local/edge/http-server.ts';
import { createInProcessRequestHandler } from '../../../local/edge/request-handler.ts';
import { createHarness, type Harness, machineArn, oneTask, thrown } from './harness.ts';

const waiting = {
  QueryLanguage: 'JSONata',
  StartAt: 'Rest',
  States: { Rest: { Type: 'Wait', Seconds: 60, End: true } },
};

function inProcess(harness: Harness): SFNClient {
  const requestHandler = createInProcessRequestHandler(harness.sfn.dispatch);
  return new SFNClient(
    inProcessClientConfig({ requestHandler, clock: harness.clock, random: () => 0, maxAttempts: 1 }),
  );
}

describe('the endpoint behind a socket', () => {
  const harness = createHarness(oneTask());
  let server: EdgeServer;
  let client: SFNClient;

  beforeAll(async () => {
    server = await harness.sfn.listen();
    client = new SFNClient({
      region: 'us-east-1',
      endpoint: server.url,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
  });
  afterAll(async () => {
    client.destroy();
    await server.close();
  });

  it('runs an execution for the SDK', async () => {
    const stateMachineArn = machineArn();
    const started = await client.send(
      new StartExecutionCommand({ stateMachineArn, name: 'by-socket', input: '{"a":1}' }),
    );
    await harness.sfn.settled(started.executionArn ?? '');

    const described = await client.send(new DescribeExecutionCommand({ executionArn: started.executionArn }));

    expect(described).toMatchObject({
      executionArn: started.executionArn,
      stateMachineArn,
      name: 'by-socket',
      status: 'SUCCEEDED',
      startDate: new Date('2026-01-01T00:00:00Z'),
      stopDate: new Date('2026-01-01T00:00:00Z'),
      input: '{"a":1}',
      inputDetails: { included: true },
      output: '{"a":1}',
      redriveCount: 0,
      redriveStatus: 'NOT_REDRIVABLE',
    });
  });

  it('answers errors that the SDK knows', async () => {
    const executionArn = 'arn:aws:states:us-east-1:000000000000:execution:machine:none';

    await expect(client.send(new DescribeExecutionCommand({ executionArn }))).rejects.toBeInstanceOf(
      ExecutionDoesNotExist,
    );
  });

  it('refuses actions that it does not have by name', async () => {
    const answer = await fetch(server.url, {
      method: 'POST',
      headers: { 'x-amz-target': 'AWSStepFunctions.CreateActivity' },
      body: '{}',
    });

    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ __type: 'UnknownOperationException' });
  });

  it.each(['', '[]', '{', 'null'])('needs a body that is an object, not %j', async (body) => {
    const answer = await fetch(server.url, {
      method: 'POST',
      headers: { 'x-amz-target': 'AWSStepFunctions.DescribeExecution' },
      body,
    });

    expect(answer.status).toBe(400);
  });

  it('rejects when the port is taken', async () => {
    await expect(harness.sfn.listen({ port: server.port })).rejects.toThrow(String(server.port));
  });
});

describe('ListExecutions', () => {
  async function fiveExecutions() {
    const harness = createHarness(oneTask(), {
      lambda: (payload) => (payload === 'bad' ? thrown('Bad') : { payload }),
    });
    for (const [index, input] of ['good', 'bad', 'good', 'bad', 'good'].entries()) {
      await harness.finish(await harness.start(input, `e${index}`));
      await harness.advance(1_000);
    }
    return { harness, client: inProcess(harness) };
  }

  it('gives the newest first, page by page', async () => {
    const { client } = await fiveExecutions();
    const pages: (string | undefined)[][] = [];

    const request = { stateMachineArn: machineArn(), maxResults: 2 };
    for await (const page of paginateListExecutions({ client }, request)) {
      pages.push((page.executions ?? []).map((execution) => execution.name));
    }

    expect(pages).toEqual([['e4', 'e3'], ['e2', 'e1'], ['e0']]);
  });

  it('does not repeat an execution when newer ones start between two pages', async () => {
    const { harness, client } = await fiveExecutions();
    const request = { stateMachineArn: machineArn(), maxResults: 3 };
    const first = await client.send(new ListExecutionsCommand(request));
    await harness.finish(await harness.start('good', 'e5'));

    const second = await client.send(new ListExecutionsCommand({ ...request, nextToken: first.nextToken }));

    expect(second.executions?.map((execution) => execution.name)).toEqual(['e1', 'e0']);
  });

  it('filters by status and by redrive', async () => {
    const { harness, client } = await fiveExecutions();
    const stateMachineArn = machineArn();
    const failed = await client.send(new ListExecutionsCommand({ stateMachineArn, statusFilter: 'FAILED' }));
    const executionArn = failed.executions?.[0]?.executionArn ?? '';
    await harness.call('RedriveExecution', { executionArn });
    await harness.finish(executionArn);

    const redriven = await client.send(
      new ListExecutionsCommand({ stateMachineArn, redriveFilter: 'REDRIVEN' }),
    );

    expect(failed.executions?.map((execution) => execution.name)).toEqual(['e3', 'e1']);
    expect(redriven.executions?.map((execution) => execution.name)).toEqual(['e3']);
  });

  it.each([{ statusFilter: 'DONE' }, { maxResults: 1001 }, { maxResults: -1 }, { nextToken: 'x' }])(
    'refuses %j',
    async (fields) => {
      const refusal = await createHarness(waiting).refusal('ListExecutions', {
        stateMachineArn: machineArn(),
        ...fields,
      });

      expect(['ValidationException', 'InvalidToken']).toContain(refusal);
    },
  );
});

describe('GetExecutionHistory', () => {
  async function finished() {
    const harness = createHarness(oneTask({ Assign: { seen: '{% $states.input %}' } }));
    const executionArn = await harness.start({ a: 1 });
    await harness.finish(executionArn);
    return { executionArn, client: inProcess(harness) };
  }

  it("uses the service's event types and members", async () => {
    const { client, executionArn } = await finished();

    const { events } = await client.send(new GetExecutionHistoryCommand({ executionArn }));

    expect(events?.map(({ id, previousEventId, type }) => [id, previousEventId, type])).toEqual([
      [1, 0, 'ExecutionStarted'],
      [2, 0, 'TaskStateEntered'],
      [3, 2, 'TaskScheduled'],
      [4, 3, 'TaskStarted'],
      [5, 4, 'TaskSucceeded'],
      [6, 5, 'TaskStateExited'],
      [7, 6, 'ExecutionSucceeded'],
    ]);
    expect(events?.[1]?.stateEnteredEventDetails).toEqual({
      name: 'Work',
      input: '{"a":1}',
      inputDetails: { truncated: false },
    });
    expect(events?.[5]?.stateExitedEventDetails).toEqual({
      name: 'Work',
      output: '{"a":1}',
      outputDetails: { truncated: false },
      assignedVariables: { seen: '{"a":1}' },
      assignedVariablesDetails: { truncated: false },
    });
    expect(events?.[0]?.timestamp).toEqual(new Date('2026-01-01T00:00:00Z'));
  });

  it('leaves data out when it is not wanted', async () => {
    const { client, executionArn } = await finished();

    const { events } = await client.send(
      new GetExecutionHistoryCommand({ executionArn, includeExecutionData: false }),
    );

    expect(JSON.stringify(events)).not.toContain('\\"a\\"');
    expect(events?.[1]?.stateEnteredEventDetails).toEqual({ name: 'Work' });
  });

  it.each([
    [false, [[1, 2, 3], [4, 5, 6], [7]]],
    [true, [[7, 6, 5], [4, 3, 2], [1]]],
  ])('gives pages when reverseOrder is %s', async (reverseOrder, expected) => {
    const { client, executionArn } = await finished();
    const pages: (number | undefined)[][] = [];

    const request = { executionArn, maxResults: 3, reverseOrder };
    for await (const page of paginateGetExecutionHistory({ client }, request)) {
      pages.push((page.events ?? []).map((event) => event.id));
    }

    expect(pages).toEqual(expected);
  });
});

describe('StopExecution', () => {
  it('ends a running execution with the error and cause given', async () => {
    const harness = createHarness(waiting);
    const client = inProcess(harness);
    const executionArn = await harness.start();
    await harness.advance(0);

    await client.send(new StopExecutionCommand({ executionArn, error: 'Wrong', cause: 'by hand' }));

    const end = await client.send(new DescribeExecutionCommand({ executionArn }));
    expect([end.status, end.error, end.cause]).toEqual(['ABORTED', 'Wrong', 'by hand']);
    expect(harness.clock.nextTimer()).toBeUndefined();
    expect((await harness.types(executionArn)).at(-1)).toBe('ExecutionAborted');
  });

  it('leaves an execution that has ended as it is', async () => {
    const harness = createHarness(oneTask());
    const executionArn = await harness.start();
    const before = await harness.finish(executionArn);
    await harness.advance(1_000);

    await harness.call('StopExecution', { executionArn });

    expect(await harness.call('DescribeExecution', { executionArn })).toEqual(before);
  });
});

describe('state machines', () => {
  it('are described and listed', async () => {
    const harness = createHarness(waiting);
    harness.sfn.addStateMachine({ name: 'another', definition: JSON.stringify(oneTask()) });
    const client = inProcess(harness);

    const { stateMachines } = await client.send(new ListStateMachinesCommand({}));
    const described = await client.send(
      new DescribeStateMachineCommand({ stateMachineArn: machineArn('another') }),
    );

    expect(stateMachines?.map((machine) => machine.name)).toEqual(['another', 'machine']);
    expect(described).toMatchObject({ name: 'another', status: 'ACTIVE', type: 'STANDARD' });
    expect(JSON.parse(described.definition ?? '')).toEqual(oneTask());
  });
});
