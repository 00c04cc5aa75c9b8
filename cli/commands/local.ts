import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigurationError } from '../../lambdas/core/errors.ts';
import { DamagedStateError } from '../../local/damaged-state-error.ts';
import type { JournalEntry } from '../../local/examples/journal.ts';
import type { ExampleOutcome } from '../../local/examples/run-examples.ts';
import type { LocalProviders } from '../../local/providers/start-providers.ts';
import { CliError } from '../cli-error.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { loadModules, settingsOf } from '../modules.ts';
import { removePortFile, writePortFile } from '../port-file.ts';
import { plain, table } from '../table.ts';

export interface LocalOptions {
  readonly port: number;
  readonly examples: boolean;
  readonly once: boolean;
  readonly dataDir?: string | undefined;
  readonly messages?: string | undefined;
  readonly quiet: boolean;
}

const EXAMPLE = new URL('../../local/examples/messages/good.json', import.meta.url);

/** How much a crash may lose of what lies in a data directory. */
const SAVE_MILLIS = 2_000;

/** Runs the worker on this machine until Ctrl+C, or until the examples are through. */
export async function local(options: LocalOptions, io: Io): Promise<ExitCode> {
  const startedAt = io.clock.now();
  const { startRuntime } = await import('../../local/runtime.ts');
  const { createJournal } = await import('../../local/examples/journal.ts');
  const { documentExercise, EXERCISE_QUEUE } = await import('../../local/examples/exercise.ts');
  const { startProviders } = await import('../../local/providers/start-providers.ts');
  const modules = await loadModules(options.messages);
  const definitions = modules.messages;
  const servers = await startProviders();

  const live = (entry: JournalEntry) => {
    const line = describe(entry);
    if (line !== undefined && !options.quiet) {
      io.out(`${seconds(io.clock.now() - startedAt)}  ${line}`);
    }
  };
  const journals = { main: createJournal(live), exercise: createJournal(live) };
  const runtime = await start(servers, options, () =>
    startRuntime({
      clock: io.clock,
      random: io.random,
      newId: io.newId,
      messages: options.examples ? [...definitions, documentExercise] : definitions,
      sources: modules.sources,
      providers: modules.providers,
      // The example providers are never real ones, whatever the environment says.
      providerEnvironment: options.messages === undefined ? servers.env : settingsOf(io.env),
      telemetry: journals.main,
      ...(options.examples ? { inputs: [{ ...EXERCISE_QUEUE, telemetry: journals.exercise }] } : {}),
      ...(options.dataDir === undefined ? {} : { dataDir: resolve(io.cwd, options.dataDir) }),
      onError: (error) => io.note(`local runtime: ${error instanceof Error ? error.message : String(error)}`),
    }),
  );
  const saving = new AbortController();
  const saved =
    options.dataDir === undefined ? Promise.resolve() : saveEvery(() => runtime.save(), io, saving.signal);
  try {
    const server = await listen(runtime, options.port);
    await writePortFile(io.cwd, { url: server.url, pid: process.pid, names: runtime.names });
    io.out(`Stepwell stands at ${server.url} (SQS, Step Functions, DynamoDB, S3, Lambda; region us-east-1).`);
    io.out(`  queue          ${runtime.names.queueUrl}`);
    io.out(`  state machine  ${runtime.names.stateMachineArn}`);
    io.out(`  table          ${runtime.names.tableName}`);
    io.out(`  message types  ${definitions.map(({ type }) => type).join(', ')}`);
    let code: ExitCode = EXIT.OK;
    if (options.examples) {
      const { runExamples } = await import('../../local/examples/run-examples.ts');
      io.out('');
      const outcomes = await runExamples({
        runtime,
        clock: io.clock,
        providers: servers,
        journals,
        signal: io.signal,
      });
      io.out('');
      io.out(outcomeTable(outcomes));
      if (outcomes.some(({ example, result }) => result !== example.expects)) code = EXIT.FAILED;
    }
    if (!options.once) {
      io.out('');
      const send =
        options.messages === undefined
          ? `npx stepwell send ${relative(io.cwd, fileURLToPath(EXAMPLE))}`
          : 'npx stepwell send FILE.json';
      io.out(`Now your own: ${send}   (in another terminal)`);
      io.out(`or  aws sqs send-message --endpoint-url ${server.url} --queue-url ${runtime.names.queueUrl} …`);
      io.out('Ctrl+C stops.');
      await untilAborted(io.signal);
    }
    return code;
  } catch (error) {
    if (io.signal.aborted) return EXIT.OK;
    throw error;
  } finally {
    saving.abort();
    await saved;
    await removePortFile(io.cwd, process.pid);
    await runtime.stop();
    await servers.close();
  }
}

/** Starts the runtime; where it cannot, nothing of its surroundings is left. */
async function start<T>(
  servers: LocalProviders,
  { messages }: LocalOptions,
  startRuntime: () => Promise<T>,
): Promise<T> {
  try {
    return await startRuntime();
  } catch (error) {
    await servers.close();
    if (error instanceof Error && (error instanceof DamagedStateError || 'syscall' in error)) {
      throw new CliError(`--data-dir cannot be used: ${error.message}`, EXIT.USAGE, { cause: error });
    }
    if (messages !== undefined && error instanceof ConfigurationError) {
      throw new CliError(`--messages ${messages}: ${error.message}`, EXIT.USAGE, { cause: error });
    }
    throw error;
  }
}

async function listen(runtime: { listen(port?: number): Promise<{ url: string }> }, port: number) {
  try {
    return await runtime.listen(port);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(`The local runtime cannot listen: ${why}`, EXIT.USAGE, { cause: error });
  }
}

async function saveEvery(save: () => Promise<void>, io: Io, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await io.clock.sleep(SAVE_MILLIS, signal);
      await save();
    } catch (error) {
      if (signal.aborted) return;
      io.note(`The state could not be saved: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((done) => {
    if (signal.aborted) done();
    else signal.addEventListener('abort', () => done(), { once: true });
  });

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(2).padStart(7)} s`;

/** One line of live progress; undefined for what a watcher need not see. */
function describe({ message, fields }: JournalEntry): string | undefined {
  const what = plain(fields.idempotencyKey ?? fields.executionName ?? '(no key)');
  switch (message) {
    case 'message_started':
      return `${fields.result === 'STARTED' ? 'started  ' : 'duplicate'}  ${what}`;
    case 'message_planned':
      return fields.result === 'Commit' ? undefined : `planned    ${what}: ${fields.result}`;
    case 'worker_message_completed':
      return `completed  ${what}: ${fields.result}`;
    case 'effect_called':
      return `effect     ${what}: ${fields.provider}.${fields.operation} ${fields.result}`;
    case 'effect_in_doubt':
      return `in doubt   ${what}: ${fields.provider}.${fields.operation}, a person has to say`;
    case 'message_failed':
      return `failed     ${what}: ${fields.code}, in quarantine`;
    case 'message_replayed':
      return `replayed   ${what}`;
    case 'message_rejected':
      return fields.result === 'KEPT'
        ? `kept aside ${fields.code}, after ${fields.receiveCount} receives`
        : `rejected   ${fields.code}, receive ${fields.receiveCount}`;
    case 'executions_woken':
      return `woken      ${fields.woken} parked execution(s) of stream ${fields.stream}`;
    default:
      return undefined;
  }
}

function outcomeTable(outcomes: readonly ExampleOutcome[]): string {
  return table(
    ['message', 'came to', 'in', 'why'],
    outcomes.map(({ example, result, milliseconds, why }) => [
      example.title,
      result === example.expects ? result : `${result ?? 'NOTHING'} (expected ${example.expects})`,
      seconds(milliseconds).trim(),
      why,
    ]),
  );
}
