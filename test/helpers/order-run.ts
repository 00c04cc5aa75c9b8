import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { fromItem, toItem } from '../../lambdas/aws/items.ts';
import { numberOf } from '../../lambdas/core/ports.ts';
import { aggregateKey } from '../../lambdas/core/table.ts';
import { runUntil } from '../../local/drive.ts';
import { listExecutions } from '../../local/list-executions.ts';
import type { LocalRuntime } from '../../local/runtime.ts';
import type { VirtualClock } from '../../local/virtual-clock.ts';
import { stageEnvelope } from './envelopes.ts';
import { seededRandom } from './ids.ts';

/** In which order the versions 1 to N are sent. */
export const SEND_ORDERS = {
  'in order': (versions) => [...versions],
  reversed: (versions) => [...versions].reverse(),
  shuffled: (versions) => {
    const random = seededRandom(7);
    return versions
      .map((version) => ({ version, at: random() }))
      .sort((a, b) => a.at - b.at)
      .map(({ version }) => version);
  },
} as const satisfies Record<string, (versions: readonly number[]) => number[]>;
export type SendOrder = keyof typeof SEND_ORDERS;

/** What N versions of one aggregate came to. */
export interface OrderRun {
  readonly succeeded: number;
  readonly version: number | undefined;
  readonly revision: number | undefined;
  readonly transitionsPerMessage: number;
  readonly mostTransitions: number;
  /** Parked executions that came back by time-out: polls, or lost wake-ups. */
  readonly parkTimeouts: number;
  readonly parked: number;
  readonly virtualSeconds: number;
}

/** Sends the versions 1 to N of one aggregate one by one and waits until all are applied. */
export async function runInOrder(
  runtime: LocalRuntime,
  clock: VirtualClock,
  count: number,
  order: SendOrder,
): Promise<OrderRun> {
  const { sqs, dynamodb } = runtime.clients;
  const { names } = runtime;
  const begin = clock.now();
  const versions = SEND_ORDERS[order](Array.from({ length: count }, (_, index) => index + 1));
  for (let start = 0; start < count; start += 10) {
    await sqs.send(
      new SendMessageBatchCommand({
        QueueUrl: names.queueUrl,
        Entries: versions
          .slice(start, start + 10)
          .map((version) => ({ Id: String(version), MessageBody: JSON.stringify(stageEnvelope(version)) })),
      }),
    );
  }

  await runUntil(async () => (await listExecutions(runtime, 'SUCCEEDED')).length === count, {
    clock,
    inFlight: () => runtime.inFlight(),
  });

  const arns = await listExecutions(runtime);
  const transitions = arns.map((arn) => runtime.stepFunctions.billedTransitions(arn) ?? 0);
  const events = arns.flatMap((arn) => runtime.stepFunctions.history(arn) ?? []);
  const { Item } = await dynamodb.send(
    new GetItemCommand({
      TableName: names.tableName,
      Key: toItem({ ...aggregateKey('case', 'CASE-123') }),
      ConsistentRead: true,
    }),
  );
  const aggregate = Item === undefined ? undefined : fromItem(Item);
  return {
    succeeded: arns.length,
    version: numberOf(aggregate, 'version#CaseStageChanged'),
    revision: numberOf(aggregate, 'revision'),
    transitionsPerMessage: transitions.reduce((sum, one) => sum + one, 0) / count,
    mostTransitions: Math.max(...transitions),
    parkTimeouts: events.filter(({ type }) => type === 'TaskTimedOut').length,
    parked: events.filter(({ type, details }) => type === 'TaskStateEntered' && details?.name === 'Park')
      .length,
    virtualSeconds: Math.round((clock.now() - begin) / 1000),
  };
}
