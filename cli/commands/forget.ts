import { type ForgetReport, forgetAggregate } from '../../lambdas/aws/forget.ts';
import { CliError } from '../cli-error.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { parseAggregate } from '../inbox.ts';
import type { Io } from '../io.ts';
import { plain } from '../table.ts';
import type { Target } from '../target.ts';

export interface ForgetOptions {
  readonly yes: boolean;
  readonly keepAggregate: boolean;
  readonly json: boolean;
}

/** Erases what the worker holds of an aggregate, and keeps a tombstone of each message. */
export async function forget(
  aggregate: string,
  options: ForgetOptions,
  target: Target,
  io: Io,
): Promise<ExitCode> {
  const named = parseAggregate(aggregate);
  if (named === undefined) throw new CliError('Say what to forget as TYPE/ID, e.g. case/CASE-123');
  if (!options.yes) {
    throw new CliError(
      `This erases all that the worker holds of ${plain(aggregate)}, and nothing brings it back: add --yes`,
    );
  }
  const report = await forgetAggregate(
    {
      aggregateType: named.type,
      aggregateId: named.id,
      keepAggregate: options.keepAggregate,
      now: new Date(io.clock.now()),
    },
    {
      dynamodb: target.clients.dynamodb,
      s3: target.clients.s3,
      sqs: target.clients.sqs,
      queueUrls: [target.names.dlqUrl, target.names.quarantineQueueUrl],
      tableName: target.names.tableName,
      payloadBucket: target.names.payloadBucket,
    },
  );
  if (options.json) io.out(JSON.stringify(report));
  else showReport(report, io);
  return isDone(report) ? EXIT.OK : EXIT.FAILED;
}

function showReport(report: ForgetReport, io: Io): void {
  io.out(
    `${report.tombstones} messages forgotten, ${report.rows} rows deleted, ${report.objects} object versions erased, ${report.messages} dead letters and notices deleted`,
  );
  if (report.unfinished.length > 0) {
    io.out('Still being worked on, and left as they are. Ask again when they are done:');
    for (const key of report.unfinished) io.out(`  ${plain(key)}`);
  }
  if (report.unseen > 0) {
    io.out(
      `${report.unseen} messages of the dead-letter or quarantine queue could not be looked at: others hold them, or they lie behind one of their group. Ask again, or drain the queue (stepwell dlq redrive).`,
    );
  }
  if (report.suspects.length > 0) {
    io.out(
      'These name the id and are no envelopes. Look at them (stepwell dlq peek), and delete what is of it:',
    );
    for (const { queueUrl, messageId } of report.suspects) io.out(`  ${queueUrl} ${plain(messageId)}`);
  }
  if (report.suspectCases.length > 0) {
    io.out(
      'These cases name the id and are no envelopes. Look at them (stepwell quarantine show), and delete the rows that are of it:',
    );
    for (const id of report.suspectCases) io.out(`  ${plain(id)}`);
  }
}

const isDone = ({ unfinished, suspects, suspectCases, unseen }: ForgetReport): boolean =>
  unfinished.length + suspects.length + suspectCases.length + unseen === 0;
