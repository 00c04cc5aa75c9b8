import {
  DescribeExecutionCommand,
  ExecutionDoesNotExist,
  type HistoryEvent,
  paginateGetExecutionHistory,
} from '@aws-sdk/client-sfn';
import { executionArn } from '../../lambdas/core/identity.ts';
import { type Row, textOf } from '../../lambdas/core/ports.ts';
import { effectRowKey } from '../../lambdas/core/table.ts';
import { CliError } from '../cli-error.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { readInbox, readRow } from '../inbox.ts';
import type { Io } from '../io.ts';
import { toJson } from '../json.ts';
import { plain, table } from '../table.ts';
import type { Target } from '../target.ts';

const PAGE = 1000;
/** Attributes of the inbox row that a person wants to see, in this order; `--json` has all of them. */
const FIELDS = [
  'status',
  'outcome',
  'messageType',
  'aggregateType',
  'aggregateId',
  'aggregateVersion',
  'receiveCount',
  'attempts',
  'replays',
  'firstSeenAt',
  'completedAt',
  'failedAt',
  'forgottenAt',
  'failureCode',
  'failureReason',
  'failureMessage',
  'resultRef',
  'correlationId',
] as const;

/** All that is known of one key. */
export async function show(key: string, json: boolean, target: Target, io: Io): Promise<ExitCode> {
  const row = await readInbox(target, key);
  if (row === undefined) {
    throw new CliError(
      `The worker ${target.names.workerName} has never taken up ${plain(key)}: it may still be in the queue, or in the dead-letter queue (stepwell dlq peek)`,
      EXIT.NOT_FOUND,
    );
  }
  const name = textOf(row, 'executionName');
  if (name === undefined) return showForgotten(key, row, json, io);
  const arn = executionArn(target.names.stateMachineArn, name);
  const execution = await describe(target, arn);
  const events = execution === undefined ? [] : await history(target, arn);
  const effects = await readEffects(target, effectKeys(events));
  const link = target.consoleLink(arn);
  if (json) {
    io.out(toJson({ inbox: row, execution: execution && { arn, ...execution }, effects, console: link }));
    return EXIT.OK;
  }
  io.out(inboxTable(key, row));
  io.out('');
  if (execution === undefined) io.out(`execution  ${arn}: not there any more, or not started yet`);
  else {
    io.out(`execution  ${arn}`);
    io.out(
      `           ${execution.status}${execution.error === undefined ? '' : `: ${plain(execution.error)}`}`,
    );
    io.out('');
    io.out(table(['at', 'state'], states(events)));
  }
  if (effects.length > 0) {
    io.out('');
    io.out(
      table(
        ['effect', 'status', 'provider', 'operation', 'reference'],
        effects.map((effect) => [
          (textOf(effect, 'PK') ?? '').slice('EFFECT#'.length),
          effect.status,
          effect.provider,
          effect.operation,
          effect.providerReference,
        ]),
      ),
    );
  }
  if (link !== undefined) io.out(`\nconsole    ${link}`);
  return EXIT.OK;
}

/** A tombstone: the name of its execution is gone with all else. */
function showForgotten(key: string, row: Row, json: boolean, io: Io): ExitCode {
  io.out(json ? toJson({ inbox: row, effects: [] }) : inboxTable(key, row));
  return EXIT.OK;
}

const inboxTable = (key: string, row: Row): string =>
  table(
    ['inbox', plain(key)],
    FIELDS.filter((name) => row[name] !== undefined).map((name) => [name, row[name]]),
  );

async function describe(target: Target, arn: string) {
  try {
    const { status, error, startDate, stopDate, redriveCount } = await target.clients.sfn.send(
      new DescribeExecutionCommand({ executionArn: arn }),
    );
    return { status, error, startDate, stopDate, redriveCount };
  } catch (error) {
    if (error instanceof ExecutionDoesNotExist) return undefined;
    throw error;
  }
}

async function history(target: Target, arn: string): Promise<readonly HistoryEvent[]> {
  const events: HistoryEvent[] = [];
  const pages = paginateGetExecutionHistory(
    { client: target.clients.sfn, pageSize: PAGE },
    { executionArn: arn, includeExecutionData: true },
  );
  for await (const page of pages) events.push(...(page.events ?? []));
  return events;
}

const states = (events: readonly HistoryEvent[]): (readonly unknown[])[] =>
  events.flatMap(({ timestamp, type, stateEnteredEventDetails }) => {
    if (stateEnteredEventDetails?.name !== undefined) {
      return [[timestamp?.toISOString(), stateEnteredEventDetails.name]];
    }
    return type === 'ExecutionRedriven' ? [[timestamp?.toISOString(), '(redriven)']] : [];
  });

/** Keys of the effects that Plan asked for, as its decisions in the history name them. */
function effectKeys(events: readonly HistoryEvent[]): readonly string[] {
  const keys = new Set<string>();
  for (const { stateExitedEventDetails } of events) {
    if (stateExitedEventDetails?.name !== 'Plan') continue;
    const decision: unknown = JSON.parse(stateExitedEventDetails.output ?? 'null');
    if (typeof decision !== 'object' || decision === null || !('effects' in decision)) continue;
    if (!Array.isArray(decision.effects)) continue;
    for (const effect of decision.effects) if (typeof effect?.key === 'string') keys.add(effect.key);
  }
  return [...keys];
}

async function readEffects(target: Target, keys: readonly string[]): Promise<readonly Row[]> {
  const rows = await Promise.all(keys.map((key) => readRow(target, effectRowKey(key))));
  return rows.filter((row) => row !== undefined);
}
