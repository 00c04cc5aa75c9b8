import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { DescribeExecutionCommand, ListExecutionsCommand } from '@aws-sdk/client-sfn';
import { GetQueueAttributesCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { fromItem, toItem } from '../../lambdas/aws/items.ts';
import { executionName } from '../../lambdas/core/identity.ts';
import type { Row } from '../../lambdas/core/ports.ts';
import { aggregateKey, type ItemKey, inboxKey } from '../../lambdas/core/table.ts';
import type { LocalRuntime } from '../../local/runtime.ts';

/** What a test asks of a worker. */
export interface WorkerQuestions {
  /** Sends a body, or an envelope as JSON. */
  send(body: unknown, options?: { groupId?: string; attributes?: Record<string, string> }): Promise<void>;
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

/** A worker whose runtime is at hand. */
export type AskedWorker = LocalRuntime & WorkerQuestions;

/** Answers from the runtime's own services. */
export function askWorker(runtime: LocalRuntime): WorkerQuestions {
  const { sqs, sfn, dynamodb } = runtime.clients;
  const questions: WorkerQuestions = {
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
    inbox: (idempotencyKey) => questions.row(inboxKey(idempotencyKey, runtime.names.workerName)),
    aggregate: (type, id) => questions.row(aggregateKey(type, id)),
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
  return questions;
}
