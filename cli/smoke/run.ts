import { GetQueueAttributesCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { closeQuarantine, listQuarantine, showQuarantine } from '../../lambdas/aws/quarantine.ts';
import { type Row, textOf } from '../../lambdas/core/ports.ts';
import { aggregateKey } from '../../lambdas/core/table.ts';
import { daysBack, readInbox, readRow } from '../inbox.ts';
import type { Io } from '../io.ts';
import { isFifo } from '../stack-names.ts';
import type { Target } from '../target.ts';
import { DUPLICATE, type SmokeCase } from './cases.ts';
import { type Letter, takeLetters } from './letters.ts';

export interface SmokeResult {
  readonly name: string;
  readonly expects: string;
  /** Undefined: it came to nothing in time. */
  readonly result: string | undefined;
  readonly detail: string;
}

/** A case while the run goes on. */
interface Running {
  readonly smoke: SmokeCase;
  /** SQS's name of it, once it is sent. */
  messageId?: string | undefined;
  outcome?: { readonly result: string; readonly detail: string };
}

const POLL_MILLIS = 2_000;
const HOUR_MILLIS = 3_600_000;

/** Sends the cases, each when its turn has come, and looks what becomes of them until all are known or time is up. */
export async function runCases(
  cases: readonly SmokeCase[],
  wait: number,
  target: Target,
  io: Io,
): Promise<{ readonly results: readonly SmokeResult[]; readonly closed: number }> {
  const running: Running[] = cases.map((smoke) => ({ smoke }));
  const letters = new Map<string, Letter>();
  const deadline = io.clock.now() + wait * 1000;
  for (;;) {
    await sendWhatMay(running, target, io);
    const found = await takeLetters(
      target,
      cases.map(({ marker }) => marker),
    );
    for (const [marker, letter] of found) letters.set(marker, letter);
    const isLate = io.clock.now() >= deadline;
    for (const entry of running) {
      if (entry.messageId === undefined || entry.outcome !== undefined) continue;
      const isLast = running.every(
        (other) => other.outcome !== undefined || other.smoke.expects === DUPLICATE,
      );
      const outcome = await look(entry.smoke, letters, { isLast, isLate }, target);
      if (outcome !== undefined) {
        entry.outcome = outcome;
        io.note(`${entry.smoke.name}: ${outcome.result}`);
      }
    }
    if (isLate || running.every(({ outcome }) => outcome !== undefined)) break;
    await io.clock.sleep(POLL_MILLIS, io.signal);
  }
  const closed = await closeCases(running, target, io);
  const results = running.map(({ smoke, messageId, outcome }) => ({
    name: smoke.name,
    expects: smoke.expects,
    result: outcome?.result,
    detail:
      outcome?.detail ??
      (messageId === undefined ? 'not sent: what it follows did not come about' : `nothing in ${wait} s`),
  }));
  return { results, closed };
}

async function sendWhatMay(running: readonly Running[], target: Target, io: Io): Promise<void> {
  for (const entry of running) {
    const { after, body, aggregateId } = entry.smoke;
    if (entry.messageId !== undefined) continue;
    if (after !== undefined) {
      const row = await readInbox(target, after.key);
      if (row === undefined || (after.status !== undefined && row.status !== after.status)) continue;
    }
    const fifo = isFifo(target.names)
      ? { MessageGroupId: aggregateId, MessageDeduplicationId: io.newId() }
      : {};
    const { MessageId = '' } = await target.clients.sqs.send(
      new SendMessageCommand({ QueueUrl: target.names.queueUrl, MessageBody: body, ...fifo }),
    );
    entry.messageId = MessageId;
  }
}

type Outcome = { readonly result: string; readonly detail: string } | undefined;

async function look(
  smoke: SmokeCase,
  letters: ReadonlyMap<string, Letter>,
  state: { readonly isLast: boolean; readonly isLate: boolean },
  target: Target,
): Promise<Outcome> {
  const letter = letters.get(smoke.marker);
  if (smoke.expects === DUPLICATE) {
    return state.isLast || state.isLate ? duplicate(smoke, state.isLate, target) : undefined;
  }
  if (letter?.code !== undefined) {
    return { result: `REJECTED ${letter.code}`, detail: `found in the ${letter.where}, and removed` };
  }
  // The inbox knows the key of a message with other content, too: that row is the first one's.
  if (smoke.key === undefined || smoke.expects.startsWith('REJECTED')) return undefined;
  const row = (await readInbox(target, smoke.key)) ?? {};
  if (row.status === 'COMPLETED') {
    const result = row.outcome === 'SUPERSEDED' ? 'SUPERSEDED' : 'COMPLETED';
    return { result, detail: textOf(row, 'resultRef') ?? smoke.key };
  }
  if (row.status !== 'FAILED_TERMINAL') return undefined;
  // Its notice comes a little later than the row.
  if (letter === undefined && !state.isLate) return undefined;
  const notice = letter === undefined ? 'its notice was not found' : 'its notice is removed';
  return { result: `QUARANTINED ${row.failureCode}`, detail: `${smoke.key}; ${notice}` };
}

/** Nothing may have come of it: the aggregate was written once, and the row is as the first message left it. */
async function duplicate(smoke: SmokeCase, isLate: boolean, target: Target): Promise<Outcome> {
  const { Attributes = {} } = await target.clients.sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: target.names.queueUrl,
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    }),
  );
  const isEmpty = Object.values(Attributes).every((count) => Number(count) === 0);
  if (!isEmpty && !isLate) return undefined;
  const row: Row = (await readInbox(target, smoke.key ?? '')) ?? {};
  const aggregate = await readRow(target, aggregateKey('case', smoke.aggregateId));
  const seen = isEmpty ? 'the queue is empty' : 'the queue was never empty: it may still come';
  const once = aggregate === undefined || aggregate.revision === 1;
  if (row.status === 'COMPLETED' && once) {
    return { result: DUPLICATE, detail: `committed once; ${seen}` };
  }
  return { result: 'DONE TWICE', detail: `${row.status}, written ${aggregate?.revision} times` };
}

/** Closes the cases that the run has opened; how many. */
async function closeCases(running: readonly Running[], { clients, names }: Target, io: Io): Promise<number> {
  const keys = running.map(({ smoke }) => smoke.key);
  const ids = running.map(({ messageId }) => messageId);
  const closing = {
    reason: 'opened by a smoke run',
    by: 'stepwell smoke',
    at: new Date(io.clock.now()).toISOString(),
  };
  let closed = 0;
  for (const day of daysBack(io.clock.now(), HOUR_MILLIS)) {
    for (const found of await listQuarantine(clients.dynamodb, names.tableName, day)) {
      const isOurs =
        found.source === 'execution' ? keys.includes(found.idempotencyKey) : await isSent(found.id);
      if (!isOurs) continue;
      if (await closeQuarantine(clients.dynamodb, names.tableName, found.id, closing)) closed += 1;
    }
  }
  return closed;

  /** A case of the starter has no key: it names the message as SQS does. */
  async function isSent(id: string): Promise<boolean> {
    const detail = await showQuarantine(clients.dynamodb, names.tableName, id);
    return detail !== undefined && ids.includes(textOf(detail.row, 'messageId'));
  }
}
