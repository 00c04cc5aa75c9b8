import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { describeIssues, type Envelope, validateEnvelope } from '../../lambdas/core/envelope.ts';
import { parseStrictJson } from '../../lambdas/core/strict-json.ts';
import { CliError } from '../cli-error.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import type { Target } from '../target.ts';

export interface SendOptions {
  /** Sends the file's text as one body, whatever it is. */
  readonly raw: boolean;
  readonly json: boolean;
}

/** Sends one envelope or an array of them. Everything is checked before anything is sent. */
export async function send(file: string, options: SendOptions, target: Target, io: Io): Promise<ExitCode> {
  const text = await readSource(file, io);
  const bodies = options.raw ? [{ body: text.trim(), envelope: undefined }] : readEnvelopes(text, file);
  const fifo = target.names.queueUrl.endsWith('.fifo');
  const sent: { messageId: string | undefined; idempotencyKey: string | undefined }[] = [];
  for (const { body, envelope } of bodies) {
    const { MessageId } = await target.clients.sqs.send(
      new SendMessageCommand({
        QueueUrl: target.names.queueUrl,
        MessageBody: body,
        ...(fifo
          ? { MessageGroupId: envelope?.aggregateId ?? 'stepwell', MessageDeduplicationId: io.newId() }
          : {}),
      }),
    );
    sent.push({ messageId: MessageId, idempotencyKey: envelope?.idempotencyKey });
  }
  if (options.json) io.out(JSON.stringify(sent));
  else {
    for (const { messageId, idempotencyKey } of sent) {
      io.out(`sent ${messageId}${idempotencyKey === undefined ? '' : `  ${idempotencyKey}`}`);
    }
    const key = sent.find(({ idempotencyKey }) => idempotencyKey !== undefined)?.idempotencyKey;
    if (key !== undefined) io.note(`What becomes of it: stepwell show '${key}'`);
  }
  return EXIT.OK;
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

function readEnvelopes(text: string, file: string): { body: string; envelope: Envelope | undefined }[] {
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
