import { type ExecutionStatus, ListExecutionsCommand } from '@aws-sdk/client-sfn';
import { listAttention } from '../../lambdas/aws/quarantine.ts';
import { type Row, textOf } from '../../lambdas/core/ports.ts';
import { ATTENTION, type Attention } from '../../lambdas/core/table.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { daysBack, lookedBack, parseDuration } from '../inbox.ts';
import type { Io } from '../io.ts';
import { toJson } from '../json.ts';
import { table } from '../table.ts';
import type { Target } from '../target.ts';

export interface LsOptions {
  readonly since: string;
  readonly json: boolean;
}

const STATUSES: readonly ExecutionStatus[] = ['RUNNING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'];
const PAGE = 1000;

/** What needs a person, and how many executions stand where. */
export async function ls(options: LsOptions, target: Target, io: Io): Promise<ExitCode> {
  const days = daysBack(io.clock.now(), parseDuration(options.since));
  const rows: { attention: Attention; row: Row }[] = [];
  for (const attention of ATTENTION) {
    for (const day of days) {
      const found = await listAttention(target.clients.dynamodb, target.names.tableName, attention, day);
      rows.push(...found.map((row) => ({ attention, row })));
    }
  }
  const executions: Record<string, string> = {};
  for (const status of STATUSES) {
    const page = await target.clients.sfn.send(
      new ListExecutionsCommand({
        stateMachineArn: target.names.stateMachineArn,
        statusFilter: status,
        maxResults: PAGE,
      }),
    );
    const count = page.executions?.length ?? 0;
    executions[status] = page.nextToken === undefined ? String(count) : `${count} or more`;
  }
  io.note(lookedBack(options.since));
  if (options.json) {
    io.out(toJson({ attention: rows.map(({ row }) => row), executions }));
    return EXIT.OK;
  }
  io.out(table(['executions', 'number'], Object.entries(executions)));
  io.out('');
  if (rows.length === 0) io.out(`Nothing needs a person (last ${options.since}).`);
  else io.out(table(['needs a person', 'what', 'code', 'since', 'key'], rows.map(toLine)));
  return EXIT.OK;
}

function toLine({ attention, row }: { attention: Attention; row: Row }): readonly unknown[] {
  const pk = textOf(row, 'PK') ?? '';
  const key = textOf(row, 'idempotencyKey') ?? pk.slice(pk.indexOf('#') + 1);
  return [
    attention,
    textOf(row, 'messageType') ?? textOf(row, 'operation'),
    textOf(row, 'failureCode') ?? textOf(row, 'code'),
    textOf(row, 'attentionAt'),
    key,
  ];
}
