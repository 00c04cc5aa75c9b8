import { paginateScan } from '@aws-sdk/client-dynamodb';
import { DescribeExecutionCommand } from '@aws-sdk/client-sfn';
import { fromItem } from '../../lambdas/aws/items.ts';
import type { Random } from '../../lambdas/core/clock.ts';
import { executionArn } from '../../lambdas/core/identity.ts';
import type { AnyMessageDefinition } from '../../lambdas/core/message-type.ts';
import type { Row } from '../../lambdas/core/ports.ts';
import { runUntil } from '../drive.ts';
import { type LocalRuntimeOptions, startRuntime } from '../runtime.ts';
import { createVirtualClock } from '../virtual-clock.ts';
import { accessWorker, type WorkerAccess } from './worker-access.ts';

/** What {@link startLocal} runs. */
export interface StartLocalOptions
  extends Pick<
    LocalRuntimeOptions,
    | 'sources'
    | 'providers'
    | 'providerEnvironment'
    | 'providerSecret'
    | 'fifo'
    | 'invalidMessages'
    | 'invalidReceives'
    | 'aggregates'
    | 'workerName'
  > {
  /** The message types of the worker. */
  readonly messages: readonly AnyMessageDefinition[];
  /** Epoch milliseconds at which virtual time starts. @default 2026-01-01T00:00:00Z */
  readonly start?: number;
  /** Seed of every random delay: the same seed is the same run. @default 1 */
  readonly seed?: number;
}

/** A whole worker in this process, in virtual time: hours of back-off pass in milliseconds. */
export interface LocalWorker extends Omit<WorkerAccess, 'depth'> {
  /** Lets time pass until no message is left and no execution runs. */
  untilIdle(): Promise<void>;
  /** Lets time pass until the condition holds. @throws Error when nothing is left to happen and it doesn't */
  until(condition: () => boolean | Promise<boolean>): Promise<void>;
  /** Envelopes in the outbox. */
  events(): Promise<readonly Row[]>;
  /** How the execution of a key stands, with the failure's code; undefined for a key that the worker does not know. */
  execution(
    idempotencyKey: string,
  ): Promise<{ readonly status: string | undefined; readonly error: string | undefined } | undefined>;
  /** How many messages could not be read, by where they are kept. */
  rejected(): Promise<{ readonly deadLetters: number; readonly quarantined: number }>;
  /** Epoch milliseconds of virtual time. */
  now(): number;
  /** Ends the worker. Call it at the end of each test that starts one. */
  stop(): Promise<void>;
}

/** Starts a worker: the deployed definition and functions against embedded services. Nothing leaves the process. */
export async function startLocal(options: StartLocalOptions): Promise<LocalWorker> {
  const { start, seed = 1, ...rest } = options;
  const clock = createVirtualClock(start === undefined ? {} : { start });
  let ids = 0;
  const failures: unknown[] = [];
  const runtime = await startRuntime({
    // A schedule never ends: a test that waits for what does not come would wait for a year of virtual time.
    sweepSeconds: 0,
    ...rest,
    clock,
    random: seeded(seed),
    newId: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`,
    onError: (error) => failures.push(error),
  });
  const { names } = runtime;
  const { sfn, dynamodb } = runtime.clients;
  const { depth, ...access } = accessWorker(runtime);

  const until: LocalWorker['until'] = async (condition) => {
    await runUntil(condition, { clock, inFlight: runtime.inFlight });
    const [failure] = failures.splice(0);
    if (failure !== undefined) throw failure;
  };
  return {
    ...access,
    until,
    untilIdle: () => until(runtime.isIdle),
    async events() {
      const events: Row[] = [];
      for await (const { Items = [] } of paginateScan({ client: dynamodb }, { TableName: names.tableName })) {
        for (const { PK, envelope } of Items.map(fromItem)) {
          if (String(PK).startsWith('OUTBOX#')) events.push(JSON.parse(String(envelope)));
        }
      }
      return events;
    },
    async execution(key) {
      const known = await access.inbox(key);
      if (known === undefined) return undefined;
      const arn = executionArn(names.stateMachineArn, String(known.executionName));
      const { status, error } = await sfn.send(new DescribeExecutionCommand({ executionArn: arn }));
      return { status, error };
    },
    async rejected() {
      return {
        deadLetters: await depth(names.dlqUrl),
        quarantined: await depth(names.quarantineQueueUrl),
      };
    },
    now: () => clock.now(),
    stop: () => runtime.stop(),
  };
}

/** A linear congruential generator: good enough for jitter, and the same everywhere. */
function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}
