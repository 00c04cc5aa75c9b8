import type { JsonObject, JsonValue } from '../../../lambdas/core/json.ts';
import type { LambdaAnswer, TaskServices } from '../../../local/stepfunctions/services/task-services.ts';
import type { StatusChange } from '../../../local/stepfunctions/status-change.ts';
import {
  createStepFunctions,
  type StepFunctions,
  type StepFunctionsDeps,
} from '../../../local/stepfunctions/step-functions.ts';
import { createVirtualClock, type VirtualClock } from '../../../local/virtual-clock.ts';

/** What a test's function does with its payload. */
export type FakeLambda = (payload: JsonValue, call: number) => LambdaAnswer | Promise<LambdaAnswer>;

export interface Harness {
  readonly sfn: StepFunctions;
  readonly clock: VirtualClock;
  readonly changes: StatusChange[];
  /** Calls an action; throws when it answers with an error. */
  call(action: string, request: JsonObject): Promise<JsonObject>;
  /** Calls an action that must fail; gives the name of its error. */
  refusal(action: string, request: JsonObject): Promise<string>;
  /** Starts an execution of the machine `machine`; gives its ARN. */
  start(input?: JsonValue, name?: string, machine?: string): Promise<string>;
  /** Moves the time from timer to timer until the execution has ended. */
  finish(arn: string): Promise<JsonObject>;
  /** Lets everything that is due now happen, then moves to each later timer up to `milliseconds` from now. */
  advance(milliseconds: number): Promise<void>;
  events(arn: string): Promise<readonly JsonObject[]>;
  types(arn: string): Promise<readonly string[]>;
}

export interface HarnessOptions extends Partial<StepFunctionsDeps> {
  readonly lambda?: FakeLambda;
  readonly aws?: TaskServices['callAws'];
  readonly clock?: VirtualClock;
}

/** An embedded Step Functions in virtual time with a function that answers its payload. */
export function createHarness(definition?: JsonObject, options: HarnessOptions = {}): Harness {
  const clock = options.clock ?? createVirtualClock();
  const changes: StatusChange[] = [];
  const lambda: FakeLambda = options.lambda ?? ((payload) => ({ payload }));
  let ids = 0;
  let calls = 0;
  const sfn = createStepFunctions({
    random: () => 0.5,
    newId: () => {
      ids += 1;
      return `00000000-0000-4000-8000-${String(ids).padStart(12, '0')}`;
    },
    services: {
      invokeLambda: async (_name, payload) => {
        calls += 1;
        return lambda(JSON.parse(payload), calls);
      },
      callAws: options.aws ?? (async () => ({})),
    },
    onStatusChange: (change) => changes.push(change),
    ...options,
    clock,
  });
  if (definition !== undefined) sfn.addStateMachine({ name: 'machine', definition });

  async function request(action: string, body: JsonObject) {
    const answer = await sfn.handle({ target: `AWSStepFunctions.${action}`, body: JSON.stringify(body) });
    const parsed: JsonObject = JSON.parse(answer.body);
    return { status: answer.status, parsed };
  }

  async function call(action: string, body: JsonObject): Promise<JsonObject> {
    const { status, parsed } = await request(action, body);
    if (status !== 200) throw new Error(`${action}: ${JSON.stringify(parsed)}`);
    return parsed;
  }

  async function events(arn: string): Promise<readonly JsonObject[]> {
    const answer = await call('GetExecutionHistory', { executionArn: arn, maxResults: 1000 });
    return Array.isArray(answer.events) ? answer.events : [];
  }

  return {
    sfn,
    clock,
    changes,
    call,
    events,
    async refusal(action, body) {
      const { status, parsed } = await request(action, body);
      return status === 200 ? 'no error' : String(parsed.__type);
    },
    async start(input = {}, name, machine = 'machine') {
      const answer = await call('StartExecution', {
        stateMachineArn: machineArn(machine),
        input: JSON.stringify(input),
        ...(name === undefined ? {} : { name }),
      });
      return String(answer.executionArn);
    },
    async finish(arn) {
      let ended = false;
      void sfn.settled(arn).then(() => {
        ended = true;
      });
      for (;;) {
        await tick();
        if (ended) break;
        const next = clock.nextTimer();
        if (next === undefined) throw new Error('The execution waits for something that is not a timer.');
        clock.moveTo(next);
      }
      return call('DescribeExecution', { executionArn: arn });
    },
    async advance(milliseconds) {
      const end = clock.now() + milliseconds;
      await tick();
      for (let next = clock.nextTimer(); next !== undefined && next <= end; next = clock.nextTimer()) {
        clock.moveTo(next);
        await tick();
      }
      clock.moveTo(end);
      await tick();
    },
    types: async (arn) => (await events(arn)).map((event) => String(event.type)),
  };
}

export function machineArn(name = 'machine'): string {
  return `arn:aws:states:us-east-1:000000000000:stateMachine:${name}`;
}

/** One turn of the event loop: every promise that can settle has settled then. */
function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A machine of one Task that calls a function; `fields` are added to the state. */
export function oneTask(fields: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return {
    QueryLanguage: 'JSONata',
    StartAt: 'Work',
    States: {
      Work: {
        Type: 'Task',
        Resource: 'arn:aws:states:::lambda:invoke',
        Arguments: { FunctionName: 'work', Payload: '{% $states.input %}' },
        Output: '{% $states.result.Payload %}',
        ...('Next' in fields ? {} : { End: true }),
        ...fields,
      },
      ...more,
    },
  };
}

/** The answer of a function that throws. */
export function thrown(errorType: string, errorMessage = 'It went wrong.'): LambdaAnswer {
  return { functionError: { errorType, errorMessage } };
}
