import {
  closeQuarantine,
  listQuarantine,
  type QuarantineCase,
  showQuarantine,
} from '../../lambdas/aws/quarantine.ts';
import { CliError } from '../cli-error.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { daysBack, lookedBack, parseDuration } from '../inbox.ts';
import type { Io } from '../io.ts';
import { toJson } from '../json.ts';
import { plain, table } from '../table.ts';
import type { Target } from '../target.ts';

/** The open cases, oldest first. */
export async function list(
  options: { readonly since: string; readonly closed: boolean; readonly json: boolean },
  target: Target,
  io: Io,
): Promise<ExitCode> {
  const cases: QuarantineCase[] = [];
  for (const day of daysBack(io.clock.now(), parseDuration(options.since))) {
    cases.push(
      ...(await listQuarantine(target.clients.dynamodb, target.names.tableName, day, {
        closed: options.closed,
      })),
    );
  }
  io.note(lookedBack(options.since));
  if (options.json) io.out(JSON.stringify(cases));
  else if (cases.length === 0) io.out(`No case (last ${options.since}).`);
  else {
    io.out(
      table(
        ['case', 'code', 'reason', 'key', 'closed'],
        cases.map((entry) => [entry.id, entry.code, entry.reason, entry.idempotencyKey, entry.closedBy]),
      ),
    );
  }
  return EXIT.OK;
}

/** One case with the message that it is about. */
export async function showCase(id: string, target: Target, io: Io): Promise<ExitCode> {
  const found = await showQuarantine(target.clients.dynamodb, target.names.tableName, id);
  if (found === undefined) throw new CliError(`There is no case ${plain(id)}`, EXIT.NOT_FOUND);
  io.out(toJson(found, 2));
  return EXIT.OK;
}

/** Closes a case with a reason; the row stays. */
export async function close(
  id: string,
  options: { readonly reason: string; readonly by: string },
  target: Target,
  io: Io,
): Promise<ExitCode> {
  const at = new Date(io.clock.now()).toISOString();
  const closed = await closeQuarantine(target.clients.dynamodb, target.names.tableName, id, {
    ...options,
    at,
  });
  if (!closed) throw new CliError(`There is no open case ${plain(id)}`, EXIT.NOT_FOUND);
  io.out(`closed ${plain(id)}`);
  return EXIT.OK;
}
