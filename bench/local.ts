import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { GetQueueAttributesCommand, SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { fromItem, toItem } from '../lambdas/aws/items.ts';
import { systemClock, systemId, systemRandom } from '../lambdas/aws/system.ts';
import { inboxKey } from '../lambdas/core/table.ts';
import { messages } from '../lambdas/messages/index.ts';
import { listExecutions } from '../local/list-executions.ts';
import { startRuntime } from '../local/runtime.ts';
import { createUsageMeter } from '../local/usage.ts';

// Messages through the whole local stack: SDK → SQS → starter → execution → commit. Counts, from the calls that
// were really made, what a message costs. `node bench/local.ts [--messages 1000]`

const at = process.argv.indexOf('--messages');
const MESSAGES = at < 0 ? 1000 : Number(process.argv[at + 1]);
/** Messages whose calls are metered, after the timed ones. */
const METERED = 100;
const SEND_BATCH = 10;
const POLL_MILLIS = 100;

if (!Number.isInteger(MESSAGES) || MESSAGES < 1) {
  process.stderr.write('--messages takes a whole number from 1\n');
  process.exit(2);
}

const meter = createUsageMeter();
let peakBytes = 0;
const watch = setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}, 50);

const runtime = await startRuntime({
  clock: systemClock,
  random: systemRandom,
  newId: systemId,
  messages,
  maxConcurrency: 5,
  wrapServices: meter.wrapServices,
  onInvoke: meter.onInvoke,
});
const { sqs, dynamodb } = runtime.clients;
const { names } = runtime;

const keyOf = (index: number) => `bench:${index}`;
const bodyOf = (index: number) =>
  JSON.stringify({
    messageId: `bench-${index}`,
    schemaVersion: 2,
    messageType: 'CaseDeadlineCalculationRequested',
    producer: 'bench',
    occurredAt: '2026-01-01T10:15:30Z',
    idempotencyKey: keyOf(index),
    aggregateType: 'case',
    aggregateId: `BENCH-${index}`,
    aggregateVersion: 1,
    payload: {
      caseId: `BENCH-${index}`,
      stage: 'INVESTIGATION',
      effectiveAt: '2026-01-01T10:15:00Z',
      calendarDays: true,
    },
  });

const succeeded = (): Promise<readonly string[]> => listExecutions(runtime, 'SUCCEEDED');

async function sendAndWait(from: number, to: number): Promise<readonly string[]> {
  for (let index = from; index < to; index += SEND_BATCH) {
    await sqs.send(
      new SendMessageBatchCommand({
        QueueUrl: names.queueUrl,
        Entries: Array.from({ length: Math.min(SEND_BATCH, to - index) }, (_, offset) => ({
          Id: String(offset),
          MessageBody: bodyOf(index + offset),
        })),
      }),
    );
  }
  let arns = await succeeded();
  while (arns.length < to) {
    await systemClock.sleep(POLL_MILLIS);
    arns = await succeeded();
  }
  return arns;
}

const startedAt = performance.now();
await sendAndWait(0, MESSAGES);
const seconds = (performance.now() - startedAt) / 1000;
// Metering takes time of its own, so what a message uses is counted on further ones.
meter.start();
const arns = await sendAndWait(MESSAGES, MESSAGES + METERED);
meter.stop();

let wrong = 0;
for (let index = 0; index < MESSAGES + METERED; index += 1) {
  const read = async (key: { PK: string; SK: string }) => {
    const { Item } = await dynamodb.send(
      new GetItemCommand({ TableName: names.tableName, Key: toItem({ ...key }), ConsistentRead: true }),
    );
    return Item === undefined ? {} : fromItem(Item);
  };
  const inbox = await read(inboxKey(keyOf(index), names.workerName));
  const aggregate = await read({ PK: `CASE#BENCH-${index}`, SK: 'META' });
  if (inbox.status !== 'COMPLETED' || aggregate.revision !== 1) wrong += 1;
}
const { Attributes = {} } = await sqs.send(
  new GetQueueAttributesCommand({ QueueUrl: names.queueUrl, AttributeNames: ['All'] }),
);
const left = Number(Attributes.ApproximateNumberOfMessages);
const billed = arns.map((arn) => runtime.stepFunctions.billedTransitions(arn) ?? 0);
clearInterval(watch);
await runtime.stop();

const out = (line: string) => process.stdout.write(`${line}\n`);
const each = (total: number, of: number) => (total / of).toFixed(2);
out(`${MESSAGES} messages in ${seconds.toFixed(2)} s: ${(MESSAGES / seconds).toFixed(0)} a second`);
out(`committed once: ${MESSAGES + METERED - wrong} of ${MESSAGES + METERED}; left in the queue: ${left}`);
out(`peak memory: ${(peakBytes / 1024 / 1024).toFixed(0)} MiB`);
out(
  `billed transitions a message: ${each(
    billed.reduce((sum, count) => sum + count, 0),
    arns.length,
  )}`,
);
out('a message used:');
for (const [name, total] of [...meter.totals].filter(([name]) => name !== 'sfn ListExecutions').sort())
  out(`  ${name.padEnd(32)} ${each(total, METERED)}`);
process.exitCode = wrong === 0 && left === 0 ? 0 : 1;
