import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { describeIssues, type Envelope, validateEnvelope } from '../../lambdas/core/envelope.ts';
import { parseStrictJson } from '../../lambdas/core/strict-json.ts';
import { CliError } from '../cli-error.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { isDenied, isUnreachable } from '../failures.ts';
import type { Io } from '../io.ts';
import { isFifo } from '../stack-names.ts';
import { plain } from '../table.ts';
import type { Target } from '../target.ts';

export interface SendOptions {
  /** Sends the file's text as one body, whatever it is. */
  readonly raw: boolean;
  readonly json: boolean;
}

/** What was to be sent, and SQS's name of it once it was. */
interface Entry {
  readonly body: string;
  readonly envelope: Envelope | undefined;
  messageId?: string | undefined;
}

/**
 * Sends one envelope or an array of them. Everything is checked before anything is sent.
 * @throws CliError naming what was sent and what was not, when the queue refuses one of several
 */
export async function send(file: string, options: SendOptions, target: Target, io: Io): Promise<ExitCode> {
  const text = await readSource(file, io);
  const entries: Entry[] = options.raw
    ? [{ body: text.trim(), envelope: undefined }]
    : readEnvelopes(text, file);
  let refusal: unknown;
  for (const entry of entries) {
    try {
      entry.messageId = await sendOne(entry, target, io);
    } catch (error) {
      if (entries.length === 1) throw error;
      refusal = error;
      break;
    }
  }
  if (options.json) io.out(JSON.stringify(entries.map(toResult)));
  else {
    for (const { messageId, envelope } of entries.filter(isSent)) {
      const key = envelope === undefined ? '' : `  ${plain(envelope.idempotencyKey)}`;
      io.out(`sent ${messageId}${key}`);
    }
  }
  if (refusal !== undefined) throw partlySent(entries, refusal);
  const key = entries.find(({ envelope }) => envelope !== undefined)?.envelope?.idempotencyKey;
  if (!options.json && key !== undefined) io.note(`What becomes of it: stepwell show '${plain(key)}'`);
  return EXIT.OK;
}

async function sendOne({ body, envelope }: Entry, { clients, names }: Target, io: Io) {
  const group = isFifo(names)
    ? { MessageGroupId: envelope?.aggregateId ?? 'stepwell', MessageDeduplicationId: io.newId() }
    : fairGroup(envelope?.tenantId);
  const { MessageId } = await clients.sqs.send(
    new SendMessageCommand({ QueueUrl: names.queueUrl, MessageBody: body, ...group }),
  );
  return MessageId;
}

/** In a standard queue the tenant is the message group, where SQS takes it for one: the queue is fair by it. */
const fairGroup = (tenantId: string | undefined) =>
  tenantId !== undefined && /^[!-~]{1,128}$/.test(tenantId) ? { MessageGroupId: tenantId } : {};

const isSent = ({ messageId }: Entry): boolean => messageId !== undefined;

const toResult = ({ messageId, envelope }: Entry) => ({
  idempotencyKey: envelope?.idempotencyKey,
  ...(messageId === undefined ? { notSent: true } : { messageId }),
});

function partlySent(entries: readonly Entry[], refusal: unknown): CliError {
  const named = entries.map(({ messageId, envelope }, index) => ({
    isSent: messageId !== undefined,
    name: `${index + 1} (${envelope?.idempotencyKey})`,
  }));
  const sent = named.filter((entry) => entry.isSent).map(({ name }) => name);
  const left = named.filter((entry) => !entry.isSent).map(({ name }) => name);
  const why = refusal instanceof Error ? `${refusal.message} (${refusal.name})` : String(refusal);
  const isNobodyThere = refusal instanceof Error && (isUnreachable(refusal) || isDenied(refusal));
  return new CliError(
    [
      `message ${left[0]} was not sent: ${why}`,
      `Sent: ${sent.join(', ') || 'none'}`,
      `Not sent: ${left.join(', ')}`,
      'Mend it and send the file again: a key that is known is not worked on twice.',
    ].join('\n'),
    isNobodyThere ? EXIT.UNREACHABLE : EXIT.FAILED,
    { cause: refusal },
  );
}

async function readSource(file: string, io: Io): Promise<string> {
  if (file === '-') return io.readInput();
  try {
    return await readFile(resolve(io.cwd, file), 'utf8');
  } catch (error) {
    throw new CliError(`${file} cannot be read; give a JSON file, or - for standard input`, EXIT.USAGE, {
      cause: error,
    });
  }
}

function readEnvelopes(text: string, file: string): Entry[] {
  const parsed = parseStrictJson(text.trim());
  if (!parsed.ok) throw new CliError(`${file}: ${parsed.fault.path}: ${parsed.fault.rule}`);
  const values: readonly unknown[] = Array.isArray(parsed.value) ? parsed.value : [parsed.value];
  if (values.length === 0) throw new CliError(`${file} holds no envelope`);
  const faults: string[] = [];
  const bodies = values.map((value, index) => {
    const result = validateEnvelope(value);
    if (!result.ok) faults.push(`message ${index + 1}: ${describeIssues(result.issues)}`);
    return { body: JSON.stringify(value), envelope: result.ok ? result.envelope : undefined };
  });
  if (faults.length > 0) {
    throw new CliError([`${file}: nothing was sent (--raw sends it as it is)`, ...faults].join('\n  '));
  }
  return bodies;
}
