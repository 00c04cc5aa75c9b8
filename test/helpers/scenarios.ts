import { CreateTableCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { toItem } from '../../lambdas/aws/items.ts';
import { RetryableFailure, TerminalFailure } from '../../lambdas/core/errors.ts';
import type { LocalRuntimeOptions } from '../../local/runtime.ts';
import { probe, probeEnvelope } from './probe.ts';
import { redrive } from './replay.ts';
import type { TestWorker } from './worker.ts';

/** A small history of a worker that ends in a known state, whatever goes wrong once on the way. */
export interface Scenario {
  readonly name: string;
  readonly options: Partial<LocalRuntimeOptions>;
  /** Keys of the valid messages. */
  readonly keys: readonly string[];
  run(worker: TestWorker): Promise<void>;
}

const KEY = 'probe:1';
const applied = probe(({ payload }) => ({ set: { value: Number(payload.value ?? 0) } }));
const LARGE = 'x'.repeat(210 * 1024);

const sendOne =
  (overrides: Record<string, unknown> = {}) =>
  async (worker: TestWorker) => {
    await worker.send(probeEnvelope(overrides));
    await worker.untilIdle();
  };

const failsOnce = () => {
  const failed = new Set<string>();
  return probe(({ envelope }) => {
    const first = !failed.has(envelope.idempotencyKey);
    failed.add(envelope.idempotencyKey);
    if (first) throw new RetryableFailure('NOT_YET');
    return { set: { value: 1 } };
  });
};
const failsForGood = probe(() => {
  throw new TerminalFailure('NEVER', 'it cannot be done');
});

/** Every way through starter, Plan, Commit, ReportFailure and the machine's own calls, effects apart. */
export const SCENARIOS: readonly Scenario[] = [
  { name: 'a message that commits', options: { messages: [applied] }, keys: [KEY], run: sendOne() },
  {
    name: 'a failure that passes',
    // One definition for all runs would remember the failure of the run before.
    get options() {
      return { messages: [failsOnce()] };
    },
    keys: [KEY],
    run: sendOne(),
  },
  { name: 'a failure for good', options: { messages: [failsForGood] }, keys: [KEY], run: sendOne() },
  {
    name: 'a bug, mended, and a redrive',
    options: { messages: [failsForGood] },
    keys: [KEY],
    async run(worker) {
      await sendOne()(worker);
      worker.deploy([failsForGood].map((definition) => ({ ...definition, plan: applied.plan })));
      // An operator presses the button until it has worked: a fault may fail the replay itself.
      for (let press = 0; press < 3; press += 1) {
        if ((await worker.execution(KEY)).status === 'FAILED') await redrive(worker, KEY);
      }
    },
  },
  {
    name: 'a large payload',
    options: { messages: [applied] },
    keys: [KEY],
    run: sendOne({ payload: { value: 1, text: LARGE } }),
  },
  {
    name: 'a duplicate while the first waits',
    options: { messages: [applied] },
    keys: [KEY],
    async run(worker) {
      const notBefore = '2026-01-01T01:00:00Z';
      await worker.send(probeEnvelope({ attemptPolicy: { notBefore } }));
      await worker.until(async () => (await worker.executions('RUNNING')) === 1);
      await worker.send(probeEnvelope({ attemptPolicy: { notBefore } }));
      await worker.untilIdle();
    },
  },
  {
    name: 'another request under a known key',
    options: { messages: [applied], invalidReceives: 1 },
    keys: [KEY],
    async run(worker) {
      await sendOne()(worker);
      await sendOne({ payload: { value: 2 } })(worker);
    },
  },
  {
    name: 'an invalid message, to the dead-letter queue',
    options: { messages: [applied], invalidReceives: 2 },
    keys: [],
    run: (worker) => worker.send('{bad').then(() => worker.untilIdle()),
  },
  {
    name: 'an invalid message, to the quarantine',
    options: { messages: [applied], invalidMessages: 'quarantine', invalidReceives: 1 },
    keys: [],
    run: (worker) => worker.send('{bad').then(() => worker.untilIdle()),
  },
  {
    name: 'a large invalid message, to the quarantine',
    options: { messages: [applied], invalidMessages: 'quarantine', invalidReceives: 1 },
    keys: [],
    run: (worker) => worker.send(`{bad${LARGE}${LARGE}`).then(() => worker.untilIdle()),
  },
  {
    name: 'messages in order of arrival',
    options: { messages: [probe(applied.plan, { ordering: 'arrival' })], fifo: true },
    keys: [KEY, 'probe:2'],
    async run(worker) {
      await worker.send(probeEnvelope(), { groupId: '1' });
      await worker.send(probeEnvelope({ idempotencyKey: 'probe:2', payload: { value: 2 } }), {
        groupId: '1',
      });
      await worker.untilIdle();
    },
  },
  {
    name: 'a version whose predecessor comes late',
    options: { messages: [probe(applied.plan, { ordering: 'sequential' })] },
    keys: [KEY, 'probe:2'],
    async run(worker) {
      await worker.send(probeEnvelope({ idempotencyKey: 'probe:2', aggregateVersion: 2 }));
      await worker.until(async () => (await worker.executions('RUNNING')) === 1);
      await worker.until(async () => (await worker.execution('probe:2')).states.includes('Park'));
      await worker.send(probeEnvelope({ aggregateVersion: 1 }));
      await worker.untilIdle();
    },
  },
  {
    name: 'an aggregate in a table of its own',
    options: {
      messages: [applied],
      aggregates: { probe: { table: 'probes', key: 'id', versionAttribute: 'rev' } },
    },
    keys: [KEY],
    async run(worker) {
      const { dynamodb } = worker.clients;
      await dynamodb.send(
        new CreateTableCommand({
          TableName: 'probes',
          BillingMode: 'PAY_PER_REQUEST',
          AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
          KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        }),
      );
      await dynamodb.send(new PutItemCommand({ TableName: 'probes', Item: toItem({ id: '1', rev: 1 }) }));
      await sendOne()(worker);
    },
  },
];
