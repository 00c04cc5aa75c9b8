import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { DescribeExecutionCommand, ListExecutionsCommand } from '@aws-sdk/client-sfn';
import { GetQueueAttributesCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { onTestFinished } from 'vitest';
import { fromItem, toItem } from '../../lambdas/aws/items.ts';
import { executionName } from '../../lambdas/core/identity.ts';
import type { Row } from '../../lambdas/core/ports.ts';
import { aggregateKey, type ItemKey, inboxKey } from '../../lambdas/core/table.ts';
import { messages } from '../../lambdas/messages/index.ts';
import { runUntil, settle } from '../../local/drive.ts';
import { type LocalRuntime, type LocalRuntimeOptions, startRuntime } from '../../local/runtime.ts';
import { createVirtualClock, type VirtualClock } from '../../local/virtual-clock.ts';
import { seededRandom, sequentialIds } from './ids.ts';

/** A whole worker in virtual time, and what a test asks of it. */
export interface TestWorker extends LocalRuntime {
  readonly clock: VirtualClock;
  /** Sends a body, or an envelope as JSON. */
  send(body: unknown, options?: { groupId?: string; attributes?: Record<string, string> }): Promise<void>;
  /** Lets time pass until the condition holds. */
  until(predicate: () => boolean | Promise<boolean>, maxVirtualMs?: number): Promise<void>;
  /** Lets time pass until no message is left and no execution runs. */
  untilIdle(maxVirtualMs?: number): Promise<void>;
  row(key: ItemKey): Promise<Row | undefined>;
  inbox(idempotencyKey: string): Promise<Row | undefined>;
  aggregate(type: string, id: string): Promise<Row | undefined>;
  execution(
    idempotencyKey: string,
    replay?: number,
  ): Promise<{
    readonly arn: string;
    readonly status: string | undefined;
    readonly error: string | undefined;
    readonly cause: string | undefined;
    readonly output: string | undefined;
    /** Names of the states entered, in order. */
    readonly states: readonly string[];
    readonly billedTransitions: number;
  }>;
  depth(queueUrl: string): Promise<number>;
  executions(status?: 'RUNNING' | 'SUCCEEDED' | 'FAILED'): Promise<number>;
}

/** Starts a worker in virtual time and stops it when the test ends. */
export async function startWorker(
  options: Partial<Omit<LocalRuntimeOptions, 'clock'>> & {
    /** A worker that runs beside this one, on the same clock. */
    readonly beside?: TestWorker;
    /** How many calls are under way elsewhere, e.g. at providers on loopback: virtual time waits for them. */
    readonly busy?: () => number;
  } = {},
): Promise<TestWorker> {
  const { beside, busy = () => 0 } = options;
  const clock = beside?.clock ?? createVirtualClock();
  const runtime = await startRuntime({
    random: seededRandom(1),
    newId: sequentialIds(),
    messages,
    onError: (error) => {
      throw error;
    },
    // A schedule never ends: a test that waits for what does not come would wait for a year.
    sweepSeconds: 0,
    ...options,
    clock,
  });
  onTestFinished(() => runtime.stop());
  const { sqs, sfn, dynamodb } = runtime.clients;
  const drive = { clock, inFlight: () => runtime.inFlight() + (beside?.inFlight() ?? 0) + busy() };

  const worker: TestWorker = {
    ...runtime,
    clock,
    async send(body, { groupId, attributes = {} } = {}) {
      await sqs.send(
        new SendMessageCommand({
          QueueUrl: runtime.names.queueUrl,
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
    until: (predicate, maxVirtualMs) =>
      runUntil(predicate, { ...drive, ...(maxVirtualMs === undefined ? {} : { maxVirtualMs }) }),
    untilIdle: (maxVirtualMs) => worker.until(runtime.isIdle, maxVirtualMs),
    async row(key) {
      const { Item } = await dynamodb.send(
        new GetItemCommand({
          TableName: runtime.names.tableName,
          Key: toItem({ ...key }),
          ConsistentRead: true,
        }),
      );
      return Item === undefined ? undefined : fromItem(Item);
    },
    inbox: (idempotencyKey) => worker.row(inboxKey(idempotencyKey, runtime.names.workerName)),
    aggregate: (type, id) => worker.row(aggregateKey(type, id)),
    async execution(idempotencyKey, replay = 0) {
      const name = executionName(idempotencyKey, { replay });
      const arn = runtime.names.stateMachineArn.replace(':stateMachine:', ':execution:').concat(`:${name}`);
      const described = await sfn.send(new DescribeExecutionCommand({ executionArn: arn }));
      const history = runtime.stepFunctions.history(arn) ?? [];
      return {
        arn,
        status: described.status,
        error: described.error,
        cause: described.cause,
        output: described.output,
        states: history.flatMap((event) =>
          event.type.endsWith('StateEntered') ? [String(event.details?.name)] : [],
        ),
        billedTransitions: runtime.stepFunctions.billedTransitions(arn) ?? 0,
      };
    },
    async depth(queueUrl) {
      const { Attributes = {} } = await sqs.send(
        new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] }),
      );
      return (
        Number(Attributes.ApproximateNumberOfMessages) +
        Number(Attributes.ApproximateNumberOfMessagesNotVisible) +
        Number(Attributes.ApproximateNumberOfMessagesDelayed)
      );
    },
    async executions(status) {
      let count = 0;
      let token: string | undefined;
      do {
        const page = await sfn.send(
          new ListExecutionsCommand({
            stateMachineArn: runtime.names.stateMachineArn,
            maxResults: 1000,
            ...(status === undefined ? {} : { statusFilter: status }),
            ...(token === undefined ? {} : { nextToken: token }),
          }),
        );
        count += page.executions?.length ?? 0;
        token = page.nextToken;
      } while (token !== undefined);
      return count;
    },
  };
  await settle(runtime.inFlight);
  return worker;
}
