import { GetItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { DescribeExecutionCommand } from '@aws-sdk/client-sfn';
import { GetQueueAttributesCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { fromItem, toItem } from '../../lambdas/aws/items.ts';
import type { Random } from '../../lambdas/core/clock.ts';
import type { AnyMessageDefinition } from '../../lambdas/core/message-type.ts';
import { aggregateKey, type ItemKey, inboxKey } from '../../lambdas/core/table.ts';
import { runUntil } from '../drive.ts';
import { type LocalRuntimeOptions, startRuntime } from '../runtime.ts';
import { createVirtualClock } from '../virtual-clock.ts';

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
  readonly messages: readonly AnyMessageDefinition[];
  /** Epoch milliseconds at which virtual time starts. @default 2026-01-01T00:00:00Z */
  readonly start?: number;
  /** Seed of every random delay: the same seed is the same run. @default 1 */
  readonly seed?: number;
}

/** An item, with plain values. */
export type LocalRow = Readonly<Record<string, unknown>>;

/** A whole worker in this process, in virtual time: hours of back-off pass in milliseconds. */
export interface LocalWorker {
  /** Sends an envelope, or any body, to the worker's queue. */
  send(
    body: unknown,
    options?: { readonly groupId?: string; readonly attributes?: Readonly<Record<string, string>> },
  ): Promise<void>;
  /** Lets time pass until no message is left and no execution runs. */
  untilIdle(): Promise<void>;
  /** Lets time pass until the condition holds. @throws Error when nothing is left to happen and it doesn't */
  until(condition: () => boolean | Promise<boolean>): Promise<void>;
  /** The inbox row of a key: status, attempts, failure. */
  inbox(idempotencyKey: string): Promise<LocalRow | undefined>;
  aggregate(aggregateType: string, aggregateId: string): Promise<LocalRow | undefined>;
  /** Any item of the worker's table. */
  row(key: ItemKey): Promise<LocalRow | undefined>;
  /** Envelopes in the outbox. */
  events(): Promise<readonly LocalRow[]>;
  /** How the execution of a key ended. */
  execution(
    idempotencyKey: string,
  ): Promise<{ readonly status: string | undefined; readonly error: string | undefined } | undefined>;
  /** How many messages could not be read, by where they are kept. */
  rejected(): Promise<{ readonly deadLetters: number; readonly quarantined: number }>;
  /** Epoch milliseconds of virtual time. */
  now(): number;
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
  const { sqs, sfn, dynamodb } = runtime.clients;

  async function depth(queueUrl: string): Promise<number> {
    const { Attributes = {} } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] }),
    );
    return (
      Number(Attributes.ApproximateNumberOfMessages) +
      Number(Attributes.ApproximateNumberOfMessagesNotVisible) +
      Number(Attributes.ApproximateNumberOfMessagesDelayed)
    );
  }
  const until: LocalWorker['until'] = async (condition) => {
    await runUntil(condition, { clock, inFlight: runtime.inFlight });
    const [failure] = failures.splice(0);
    if (failure !== undefined) throw failure;
  };
  const row: LocalWorker['row'] = async (key) => {
    const { Item } = await dynamodb.send(
      new GetItemCommand({ TableName: names.tableName, Key: toItem({ ...key }), ConsistentRead: true }),
    );
    return Item === undefined ? undefined : fromItem(Item);
  };
  const inbox: LocalWorker['inbox'] = (key) => row(inboxKey(key, names.workerName));

  return {
    async send(body, { groupId, attributes = {} } = {}) {
      await sqs.send(
        new SendMessageCommand({
          QueueUrl: names.queueUrl,
          MessageBody: typeof body === 'string' ? body : JSON.stringify(body),
          MessageAttributes: Object.fromEntries(
            Object.entries(attributes).map(([name, value]) => [
              name,
              { DataType: 'String', StringValue: value },
            ]),
          ),
          ...(groupId === undefined ? {} : { MessageGroupId: groupId }),
        }),
      );
    },
    until,
    untilIdle: () => until(runtime.isIdle),
    inbox,
    aggregate: (type, id) => row(aggregateKey(type, id)),
    row,
    async events() {
      const { Items = [] } = await dynamodb.send(new ScanCommand({ TableName: names.tableName }));
      return Items.map(fromItem).flatMap(({ PK, envelope }) =>
        String(PK).startsWith('OUTBOX#') ? [JSON.parse(String(envelope))] : [],
      );
    },
    async execution(key) {
      const known = await inbox(key);
      if (known === undefined) return undefined;
      const executionArn = `${names.stateMachineArn.replace(':stateMachine:', ':execution:')}:${known.executionName}`;
      const { status, error } = await sfn.send(new DescribeExecutionCommand({ executionArn }));
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
