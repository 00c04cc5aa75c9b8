import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { type Envelope, parseEnvelope } from '../../lambdas/core/envelope.ts';
import { listExecutions } from '../../local/list-executions.ts';
import type { LocalRuntime } from '../../local/runtime.ts';
import { READ_UNITS, type UsageMeter, WRITE_UNITS } from '../../local/usage.ts';
import { CliError } from '../cli-error.ts';
import { costPerMillion, type MessageUsage, totalOf, US_EAST_1 } from '../cost.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { loadModules, settingsOf } from '../modules.ts';
import { plain, table } from '../table.ts';

export interface CostOptions {
  /** How many messages are sent. */
  readonly count: number;
  /** Module of the team's own types. @default the examples */
  readonly messages?: string | undefined;
  /** Whether that module's providers are really called. */
  readonly callProviders: boolean;
  readonly functionMs: number;
  /** MB */
  readonly memory: number;
  readonly json: boolean;
}

const EXAMPLE = fileURLToPath(new URL('../../local/examples/messages/good.json', import.meta.url));
const SEND_BATCH = 10;
const POLL_MILLIS = 20;
const PATIENCE_MILLIS = 120_000;

/** Runs copies of a message through a worker in this process, counts what they use and puts prices to it. */
export async function cost(file: string | undefined, options: CostOptions, io: Io): Promise<ExitCode> {
  const envelope = await readEnvelope(file ?? EXAMPLE);
  const usage = await measure(envelope, options, io);
  const functions = { milliseconds: options.functionMs, memoryMb: options.memory };
  const lines = costPerMillion(usage, functions, US_EAST_1);
  if (options.json) {
    const { region, asOf } = US_EAST_1;
    io.out(JSON.stringify({ region, asOf, usage, functions, lines, totalPerMillion: totalOf(lines) }));
    return EXIT.OK;
  }
  io.out(`One million messages like ${envelope.messageType}, counted on ${options.count} that ran here:`);
  io.out('');
  const rows = lines.map(({ what, units, pricePerMillion, perMillion }) => [
    what,
    units.toFixed(2),
    dollars(pricePerMillion, 3),
    dollars(perMillion),
  ]);
  io.out(
    table(
      ['', 'a message', 'price a million', 'a million messages'],
      [...rows, ['total', '', '', dollars(totalOf(lines))]],
    ),
  );
  io.out('');
  io.out(
    `Prices of ${US_EAST_1.region}, ${US_EAST_1.asOf}; other Regions differ and prices change: https://aws.amazon.com/pricing`,
  );
  io.out(
    `Assumed: ${options.functionMs} ms a function with ${options.memory} MB (--function-ms, --memory); bodies below 64 KB.`,
  );
  io.out(
    'Not in it: logs, metrics, alarms, S3, storage, backups, keys, data transfer, providers, empty receives.',
  );
  return EXIT.OK;
}

const dollars = (amount: number, digits = 2): string => `$${amount.toFixed(digits)}`;

async function readEnvelope(file: string): Promise<Envelope> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new CliError(`${file} cannot be read`, EXIT.USAGE, { cause: error });
  }
  const parsed = parseEnvelope(text);
  if (parsed.ok) return parsed.envelope;
  const [issue] = parsed.issues;
  throw new CliError(`${file} is no envelope: ${issue?.path} ${issue?.rule}`);
}

async function measure(envelope: Envelope, options: CostOptions, io: Io): Promise<MessageUsage> {
  const { startRuntime } = await import('../../local/runtime.ts');
  const { createUsageMeter } = await import('../../local/usage.ts');
  const { startProviders } = await import('../../local/providers/start-providers.ts');
  const { messages, providers } = await loadModules(options.messages);
  const { count } = options;
  const own = options.messages !== undefined;
  if (!messages.some(({ type }) => type === envelope.messageType)) {
    const known = messages.map(({ type }) => type).join(', ');
    throw new CliError(`${plain(envelope.messageType)} is none of the types that are run here: ${known}`);
  }
  if (own && providers.length > 0 && !options.callProviders) {
    io.note('The providers of the module are left out: --call-providers calls them, once a message.');
  }
  const meter = createUsageMeter();
  const servers = await startProviders();
  try {
    const runtime = await startRuntime({
      clock: io.clock,
      random: io.random,
      newId: io.newId,
      messages,
      providers: own && !options.callProviders ? [] : providers,
      providerEnvironment: own ? settingsOf(io.env) : servers.env,
      wrapServices: meter.wrapServices,
      onInvoke: meter.onInvoke,
      onError: (error) => io.note(`local runtime: ${error instanceof Error ? error.message : String(error)}`),
    });
    try {
      meter.start();
      await send(envelope, count, runtime);
      const arns = await closed(count, runtime, io);
      meter.stop();
      return usageOf(arns, meter, runtime);
    } finally {
      await runtime.stop();
    }
  } finally {
    await servers.close();
  }
}

/** Copies of the message, each a piece of work of its own. */
async function send(envelope: Envelope, count: number, { clients, names }: LocalRuntime): Promise<void> {
  for (let from = 0; from < count; from += SEND_BATCH) {
    await clients.sqs.send(
      new SendMessageBatchCommand({
        QueueUrl: names.queueUrl,
        Entries: Array.from({ length: Math.min(SEND_BATCH, count - from) }, (_, offset) => {
          const copy = from + offset;
          const body = {
            ...envelope,
            messageId: `${envelope.messageId}-${copy}`,
            idempotencyKey: `${envelope.idempotencyKey}:${copy}`,
            aggregateId: `${envelope.aggregateId}-${copy}`,
          };
          return { Id: String(offset), MessageBody: JSON.stringify(body) };
        }),
      }),
    );
  }
}

/** ARNs of the executions, once all of them have succeeded. */
async function closed(count: number, runtime: LocalRuntime, io: Io): Promise<readonly string[]> {
  const startedAt = io.clock.now();
  for (;;) {
    const arns = await listExecutions(runtime, 'SUCCEEDED');
    if (arns.length >= count) return arns;
    if (io.clock.now() - startedAt > PATIENCE_MILLIS) {
      throw new CliError(
        `Only ${arns.length} of ${count} messages completed in two minutes: try the message by stepwell send first`,
        EXIT.FAILED,
      );
    }
    await io.clock.sleep(POLL_MILLIS, io.signal);
  }
}

function usageOf(arns: readonly string[], { totals }: UsageMeter, runtime: LocalRuntime): MessageUsage {
  const sum = (prefix: string) =>
    [...totals].reduce((all, [name, amount]) => (name.startsWith(prefix) ? all + amount : all), 0);
  const each = (total: number) => total / arns.length;
  return {
    transitions: each(
      arns.reduce((all, arn) => all + (runtime.stepFunctions.billedTransitions(arn) ?? 0), 0),
    ),
    invocations: each(sum('lambda ')),
    sqsRequests: each(sum('sqs ')),
    readUnits: each(totals.get(READ_UNITS) ?? 0),
    writeUnits: each(totals.get(WRITE_UNITS) ?? 0),
  };
}
