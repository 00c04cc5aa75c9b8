import { paginateScan } from '@aws-sdk/client-dynamodb';
import { expect } from 'vitest';
import { fromItem } from '../../lambdas/aws/items.ts';
import { numberOf, type Row, textOf } from '../../lambdas/core/ports.ts';
import { aggregateKey } from '../../lambdas/core/table.ts';
import { listExecutions } from '../../local/list-executions.ts';
import type { TestWorker } from './worker.ts';
import type { AskedWorker } from './worker-questions.ts';

/** Every item of the worker's table. */
export async function allRows(worker: AskedWorker): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const input = { TableName: worker.names.tableName, ConsistentRead: true };
  for await (const { Items = [] } of paginateScan({ client: worker.clients.dynamodb }, input)) {
    rows.push(...Items.map(fromItem));
  }
  return rows;
}

export const inboxRows = (rows: readonly Row[]): readonly Row[] =>
  rows.filter(({ PK, SK }) => String(PK).startsWith('IDEMP#') && String(SK).startsWith('WORKER#'));

export const quarantineRows = (rows: readonly Row[]): readonly Row[] =>
  rows.filter(({ PK }) => String(PK).startsWith('QUARANTINE#'));

export interface InvariantOptions {
  /** Keys of the valid messages that were sent. */
  readonly keys: readonly string[];
  /** Business attempts that an execution may make between two replays. @default 5 */
  readonly maxAttempts?: number;
}

/**
 * Checks a worker at rest.
 *
 * - I1: an aggregate has as many revisions as messages that say they were applied to it
 * - I2, I7: no message is lost: each key is completed, or failed and quarantined, and the queue is empty
 * - I3: what is completed and applied is there
 * - I6: what is known under a key is of one request
 * - I8: attempts stay within the policy
 */
export async function expectInvariants(worker: TestWorker, options: InvariantOptions): Promise<void> {
  const rows = await allRows(worker);
  const inbox = inboxRows(rows);
  expect(await worker.depth(worker.names.queueUrl), 'messages left in the queue').toBe(0);
  expect(await worker.executions('RUNNING'), 'executions that still run').toBe(0);

  for (const key of options.keys) {
    const row = inbox.find(({ PK }) => PK === `IDEMP#${key}`);
    expect(['COMPLETED', 'FAILED_TERMINAL'], `status of ${key}`).toContain(row?.status);
    if (row?.status !== 'FAILED_TERMINAL') continue;
    const cases = quarantineRows(rows).filter((found) => found.idempotencyKey === key);
    expect(cases.length, `quarantine rows of ${key}`).toBeGreaterThan(0);
    expect(textOf(row, 'attention'), `attention of ${key}`).toMatch(/^FAILED_TERMINAL#/);
  }

  const applied = new Map<string, number>();
  for (const row of inbox) {
    if (row.status !== 'COMPLETED') continue;
    expect(row, 'a completed row needs nobody').not.toHaveProperty('attention');
    if (row.outcome !== 'APPLIED') continue;
    const { PK } = aggregateKey(String(row.aggregateType), String(row.aggregateId));
    applied.set(PK, (applied.get(PK) ?? 0) + 1);
  }
  const aggregates = rows.filter(({ SK }) => SK === 'META');
  const revisions = new Map(aggregates.map((row) => [String(row.PK), numberOf(row, 'revision')]));
  expect(revisions, 'revisions against applied messages').toEqual(applied);

  await expectAttemptsWithin(worker, options.maxAttempts ?? 5);
}

async function expectAttemptsWithin(worker: TestWorker, maxAttempts: number): Promise<void> {
  for (const executionArn of await listExecutions(worker)) {
    let attempts = 0;
    let most = 0;
    for (const { type, details } of worker.stepFunctions.history(executionArn) ?? []) {
      if (type === 'TaskStateExited' && details?.name === 'ReportFailure') attempts = 0;
      // Entered by a recorded attempt alone: a refused RecordFailure leads back to Plan.
      if (type === 'ChoiceStateEntered' && details?.name === 'AttemptsLeft') attempts += 1;
      most = Math.max(most, attempts);
    }
    expect(most, `attempts of ${executionArn}`).toBeLessThanOrEqual(maxAttempts);
  }
}
