import { GetFunctionConfigurationCommand } from '@aws-sdk/client-lambda';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { aggregatesOf, smokeCases } from '../smoke/cases.ts';
import { runCases } from '../smoke/run.ts';
import { isFifo } from '../stack-names.ts';
import { table } from '../table.ts';
import type { Target } from '../target.ts';

export interface SmokeOptions {
  /** Also sends a payment of one cent to the provider Payments. */
  readonly effects: boolean;
  /** Seconds to wait for all outcomes. */
  readonly wait: number;
  readonly json: boolean;
}

const SKIPPED = [
  ['a notice', 'its provider takes no idempotency key: npm start shows one in doubt'],
  ['a question to a model', 'it costs money: stepwell send local/examples/messages/question-1.json'],
  ['a document', 'it needs an object in S3: npm start shows one'],
] as const;

/**
 * Sends one message of each outcome, checks what became of it, and takes away what it left in queues and quarantine;
 * exit code 1 when one came to something else.
 */
export async function smoke(options: SmokeOptions, target: Target, io: Io): Promise<ExitCode> {
  const run = io.newId();
  const refusal = options.effects
    ? await whyNoPayment(target)
    : 'it calls the provider Payments: --effects sends one cent to a test endpoint';
  const at = new Date(io.clock.now()).toISOString();
  const fifo = isFifo(target.names);
  const cases = smokeCases(run, at, { effects: refusal === undefined, fifo });
  io.note(
    `Run ${run} at the worker ${target.names.workerName}. Alarms on failures and dead letters will go off.`,
  );
  const { results, closed } = await runCases(cases, options.wait, target, io);
  const skipped = [
    ...(refusal === undefined ? [] : [['a payment', refusal] as const]),
    ...(fifo ? [] : [['a note in order of arrival', 'the queue is no FIFO queue'] as const]),
    ...SKIPPED,
  ];
  const isWell = results.every(({ result, expects }) => result === expects);
  const left = [
    ...(fifo ? aggregatesOf(run) : aggregatesOf(run).slice(0, -1)).map(
      (id) => `stepwell forget case/${id} --yes`,
    ),
    ...(refusal === undefined ? [`stepwell forget payment/SMOKE-${run} --yes`] : []),
  ];
  if (options.json) {
    const without = skipped.map(([name, why]) => ({ name, why }));
    io.out(JSON.stringify({ run, results, skipped: without, casesClosed: closed, left }));
    return isWell ? EXIT.OK : EXIT.FAILED;
  }
  const rows = results.map(({ name, result = 'NOTHING', expects, detail }) => [
    name,
    result === expects ? result : `${result} (expected ${expects})`,
    detail,
  ]);
  io.out(
    table(['message', 'came to', 'seen'], [...rows, ...skipped.map(([name, why]) => [name, 'skipped', why])]),
  );
  io.out('');
  io.out(
    `Cases closed: ${closed}. Left: inbox rows, which expire, and the aggregates, which do not; until then`,
  );
  io.out(
    'stepwell ls shows the key that failed and the one with other content. These commands erase all of it:',
  );
  for (const command of left) io.out(`  ${command}`);
  if (!isWell) io.note('Not as expected. Look closer: stepwell show KEY, stepwell dlq peek, stepwell doctor');
  return isWell ? EXIT.OK : EXIT.FAILED;
}

/** Undefined: a payment can be sent. */
async function whyNoPayment({ names, clients }: Target): Promise<string | undefined> {
  // The local runtime calls providers on loopback, or those that its user has given it.
  if (names.functions === undefined) return undefined;
  const FunctionName = names.functions['run-effect-Payments'];
  if (FunctionName === undefined) return 'the stack has no provider Payments';
  const { Environment } = await clients.lambda.send(new GetFunctionConfigurationCommand({ FunctionName }));
  const url = Environment?.Variables?.PAYMENTS_URL ?? 'nothing';
  const isReal = URL.canParse(url) && !new URL(url).hostname.endsWith('.example');
  return isReal ? undefined : `PAYMENTS_URL is ${url}, which is nobody's: deploy with -c paymentsUrl=…`;
}
