/**
 * State transitions a message when N messages of one aggregate arrive in order, reversed and shuffled, in virtual
 * time on the local runtime. They stay flat in N, because nothing polls.
 *
 *   node bench/ordering.ts [N …]     10, 100 and 1000 without arguments
 */
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { ListExecutionsCommand } from '@aws-sdk/client-sfn';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import Table from 'cli-table3';
import { fromItem, toItem } from '../lambdas/aws/items.ts';
import { aggregateKey } from '../lambdas/core/table.ts';
import { messages } from '../lambdas/messages/index.ts';
import { runUntil } from '../local/drive.ts';
import { startRuntime } from '../local/runtime.ts';
import { createVirtualClock } from '../local/virtual-clock.ts';
import { stageEnvelope } from '../test/helpers/envelopes.ts';
import { seededRandom, sequentialIds } from '../test/helpers/ids.ts';

const SEED = 7;
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

function shuffled(versions: readonly number[]): number[] {
  const random = seededRandom(SEED);
  const keyed = versions.map((version) => ({ version, key: random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ version }) => version);
}

async function measure(versions: readonly number[]) {
  const clock = createVirtualClock();
  const runtime = await startRuntime({ clock, random: seededRandom(SEED), newId: sequentialIds(), messages });
  const { dynamodb, sfn, sqs } = runtime.clients;
  for (const version of versions) {
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: runtime.names.queueUrl,
        MessageBody: JSON.stringify(stageEnvelope(version)),
      }),
    );
  }
  const startedAt = clock.now();
  const aggregate = async () => {
    const Key = toItem({ ...aggregateKey('case', 'CASE-123') });
    const { Item } = await dynamodb.send(new GetItemCommand({ TableName: runtime.names.tableName, Key }));
    return Item === undefined ? {} : fromItem(Item);
  };
  await runUntil(async () => (await aggregate())['version#CaseStageChanged'] === versions.length, {
    clock,
    inFlight: runtime.inFlight,
  });
  const seconds = (clock.now() - startedAt) / 1_000;
  let transitions = 0;
  let most = 0;
  let nextToken: string | undefined;
  do {
    const page = await sfn.send(
      new ListExecutionsCommand({
        stateMachineArn: runtime.names.stateMachineArn,
        ...(nextToken === undefined ? {} : { nextToken }),
      }),
    );
    for (const { executionArn } of page.executions ?? []) {
      const billed = runtime.stepFunctions.billedTransitions(executionArn ?? '') ?? 0;
      transitions += billed;
      most = Math.max(most, billed);
    }
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  const { revision } = await aggregate();
  await runtime.stop();
  return { transitions: transitions / versions.length, most, revision, seconds };
}

const counts = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [10, 100, 1_000];
const table = new Table({
  head: ['N', 'arrival', 'applied', 'transitions a message', 'most of one', 'virtual seconds'],
});
for (const count of counts) {
  const orders = {
    'in order': upTo(count),
    reversed: upTo(count).reverse(),
    shuffled: shuffled(upTo(count)),
  };
  for (const [arrival, versions] of Object.entries(orders)) {
    const { transitions, most, revision, seconds } = await measure(versions);
    table.push([count, arrival, String(revision), transitions.toFixed(2), most, seconds.toFixed(1)]);
  }
}
console.log(table.toString());
