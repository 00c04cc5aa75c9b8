import { DescribeExecutionCommand } from '@aws-sdk/client-sfn';
import { listAttention } from '../../lambdas/aws/quarantine.ts';
import { type Row, textOf } from '../../lambdas/core/ports.ts';
import { CliError } from '../cli-error.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { daysBack, inboxOfAggregate, keyOfRow, parseAggregate, parseDuration, readInbox } from '../inbox.ts';
import type { Io } from '../io.ts';
import { plain, table } from '../table.ts';
import type { Target } from '../target.ts';
import { type Begun, beginReplay } from './begin-replay.ts';

export interface ReplayOptions {
  readonly code?: string | undefined;
  readonly since: string;
  /** `TYPE/ID`: its failed messages in version order. */
  readonly aggregate?: string | undefined;
  readonly sample?: number | undefined;
  /** Never more than this, whatever was found. */
  readonly max: number;
  /** Replays begun a second. */
  readonly rate: number;
  readonly dryRun: boolean;
  /** Goes on after the sample although some of it failed. */
  readonly continue: boolean;
  readonly newDefinition: boolean;
  /** Seconds to wait for an outcome. */
  readonly wait: number;
  readonly json: boolean;
}

type ReplayResult =
  | 'SUCCEEDED'
  | 'FAILED'
  | 'RUNNING'
  | 'ALREADY_COMPLETED'
  | 'ALREADY_RUNNING'
  | 'NOT_POSSIBLE';

interface Replayed {
  readonly key: string;
  readonly result: ReplayResult;
  readonly detail: string;
}

const POLL_MILLIS = 1_000;

/** Replays one key, or the failed ones that were asked for: first a sample, then the rest if the sample is well. */
export async function replay(
  key: string | undefined,
  options: ReplayOptions,
  target: Target,
  io: Io,
): Promise<ExitCode> {
  const found = await select(key, options, target, io);
  const chosen = found.slice(0, options.max);
  if (found.length > chosen.length) {
    io.note(`${found.length} found, of which ${chosen.length} are replayed (--max ${options.max})`);
  }
  if (options.dryRun) {
    reportPlanned(chosen, options, io);
    return EXIT.OK;
  }
  const sample = options.sample ?? chosen.length;
  const done = await replayAll(chosen.slice(0, sample), options, target, io);
  const rest = chosen.slice(sample);
  if (rest.length > 0) {
    if (!done.every(isWell) && !options.continue) {
      report(done, options, io);
      io.note(
        `Stopped after the sample: ${rest.length} are left as they were (--continue goes on all the same)`,
      );
      return EXIT.FAILED;
    }
    done.push(...(await replayAll(rest, options, target, io)));
  }
  report(done, options, io);
  return done.every(isWell) ? EXIT.OK : EXIT.FAILED;
}

const isWell = ({ result }: Replayed): boolean => result === 'SUCCEEDED' || result === 'ALREADY_COMPLETED';

async function select(
  key: string | undefined,
  options: ReplayOptions,
  target: Target,
  io: Io,
): Promise<readonly Row[]> {
  const ways = [key, options.code, options.aggregate].filter((way) => way !== undefined).length;
  if (ways !== 1) {
    throw new CliError('Say what to replay: a key, --code CODE, or --aggregate TYPE/ID (one of them)');
  }
  if (key !== undefined) {
    const row = await readInbox(target, key);
    if (row === undefined) throw new CliError(`The worker does not know ${plain(key)}`, EXIT.NOT_FOUND);
    return [row];
  }
  if (options.aggregate !== undefined) {
    const aggregate = parseAggregate(options.aggregate);
    if (aggregate === undefined) throw new CliError('--aggregate is TYPE/ID, e.g. case/CASE-123');
    const rows = await inboxOfAggregate(target, aggregate.type, aggregate.id);
    return rows.filter((row) => row.status === 'FAILED_TERMINAL');
  }
  const back = parseDuration(options.since);
  const from = new Date(io.clock.now() - back).toISOString();
  const rows: Row[] = [];
  for (const day of daysBack(io.clock.now(), back)) {
    rows.push(
      ...(await listAttention(target.clients.dynamodb, target.names.tableName, 'FAILED_TERMINAL', day)),
    );
  }
  return rows.filter((row) => row.failureCode === options.code && (textOf(row, 'failedAt') ?? '') >= from);
}

async function replayAll(
  rows: readonly Row[],
  options: ReplayOptions,
  target: Target,
  io: Io,
): Promise<Replayed[]> {
  const begun: { key: string; began: Begun }[] = [];
  for (const [index, row] of rows.entries()) {
    if (index > 0) await io.clock.sleep(1000 / options.rate, io.signal);
    begun.push({ key: keyOfRow(row), began: await beginReplay(row, options, target) });
  }
  const deadline = io.clock.now() + options.wait * 1000;
  const results: Replayed[] = [];
  for (const { key, began } of begun) {
    if (began.arn === undefined) results.push({ key, result: began.result, detail: began.detail });
    else results.push({ key, ...(await outcome(began.arn, deadline, target, io)) });
    if (begun.length > 1) io.note(`${results.length} of ${begun.length} have an outcome`);
  }
  return results;
}

async function outcome(
  arn: string,
  deadline: number,
  target: Target,
  io: Io,
): Promise<Omit<Replayed, 'key'>> {
  for (;;) {
    const { status, error } = await target.clients.sfn.send(
      new DescribeExecutionCommand({ executionArn: arn }),
    );
    if (status === 'SUCCEEDED') return { result: 'SUCCEEDED', detail: arn };
    if (status !== 'RUNNING') return { result: 'FAILED', detail: error ?? status ?? '' };
    if (io.clock.now() >= deadline) return { result: 'RUNNING', detail: `still at work: ${arn}` };
    await io.clock.sleep(POLL_MILLIS, io.signal);
  }
}

function reportPlanned(rows: readonly Row[], options: ReplayOptions, io: Io): void {
  const way = options.newDefinition ? 'new execution' : 'redrive';
  const planned = rows.map((row) => ({
    key: keyOfRow(row),
    status: row.status,
    failureCode: row.failureCode,
    would: row.status === 'COMPLETED' ? 'nothing: completed' : way,
  }));
  if (options.json) io.out(JSON.stringify(planned));
  else
    io.out(
      table(
        ['key', 'status', 'code', 'would'],
        planned.map((row) => Object.values(row)),
      ),
    );
}

function report(done: readonly Replayed[], options: ReplayOptions, io: Io): void {
  if (options.json) io.out(JSON.stringify(done));
  else if (done.length === 0) io.out('Nothing to replay.');
  else
    io.out(
      table(
        ['key', 'result', 'detail'],
        done.map(({ key, result, detail }) => [key, result, detail]),
      ),
    );
}
