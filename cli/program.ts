import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import type { ExitCode } from './exit-codes.ts';
import type { Io } from './io.ts';
import type { TargetOptions } from './target.ts';

const { version: VERSION }: { readonly version: string } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

/** Runs one command; what it answers becomes the process's exit code. */
export type Runner = (work: () => Promise<ExitCode>) => Promise<void>;

const port = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535) {
    throw new InvalidArgumentError('A port is a whole number from 0 (any free one) to 65535.');
  }
  return value;
};

/** The command line. Each command's code is loaded when it is called. */
export function createProgram(io: Io, run: Runner): Command {
  const program = new Command('stepwell')
    .version(VERSION, '-V, --version', 'print the version')
    .description('Exactly-once work on Amazon SQS, visible and replayable in Step Functions.')
    .showHelpAfterError('(stepwell --help lists the commands)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out(text.trimEnd()),
      writeErr: (text) => io.note(text.trimEnd()),
    });
  program
    .command('local')
    .description('Run the whole worker in this process, on loopback: no AWS account, no Docker.')
    .option('--examples', 'send the example messages and show what becomes of each', false)
    .option('--once', 'stop after the examples; the exit code is 0 when all came out as they should', false)
    .option('--port <port>', 'port to listen on; 0 takes any free one', port, 0)
    .option('--data-dir <folder>', 'keep queues, executions and table there across restarts')
    .option(
      '--messages <module>',
      'serve the message types that this TypeScript or JavaScript module exports',
    )
    .option('--quiet', 'no live progress', false)
    .addHelpText(
      'after',
      `
To stop in a handler, run Node's inspector and set a breakpoint; handlers run in this very process:
  node --inspect bin/stepwell.mjs local --messages ./my-messages.ts`,
    )
    .action((options) =>
      run(async () => {
        const { local } = await import('./commands/local.ts');
        return local({ ...options, examples: options.examples || options.once }, io);
      }),
    );
  addCostCommand(program, io, run);
  addMessageCommands(program, io, run);
  addOperatorCommands(program, io, run);
  program.addHelpText(
    'after',
    `
Commands other than "local" and "cost" work on the local runtime of this folder, or on a deployed stack:
  --endpoint URL, or --stack NAME [--worker NAME] [--region REGION]
Exit codes: 0 done · 1 done, with a bad outcome · 2 not understood or invalid, nothing done
            3 no such key, case or stack · 4 endpoint or AWS not reachable, or access denied`,
  );
  return program;
}

/** A command that works on a worker. */
function onTarget(command: Command): Command {
  return command
    .option('--endpoint <url>', 'local runtime (default: the one of this folder)')
    .option('--stack <name>', 'deployed CloudFormation stack')
    .option('--worker <name>', "which of the stack's workers (default: the only one)")
    .option('--region <region>', "the stack's Region (default: as the AWS SDK finds it)")
    .option('--json', 'for programs', false);
}

async function open(options: TargetOptions, io: Io) {
  const { openTarget } = await import('./target.ts');
  return openTarget(options, io);
}

const count = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('It is a whole number from 1.');
  return value;
};

function addCostCommand(program: Command, io: Io, run: Runner): void {
  program
    .command('cost [file]')
    .description(
      'What a million such messages cost on AWS: counted on a run in this process, us-east-1 prices.',
    )
    .option('--count <n>', 'how many are run', count, 100)
    .option('--messages <module>', 'run the message types that this TypeScript or JavaScript module exports')
    .option('--call-providers', "really call that module's providers, as the environment says", false)
    .option('--function-ms <n>', 'assumed milliseconds of a function', count, 50)
    .option('--memory <mb>', 'memory of a function', count, 512)
    .option('--json', 'for programs', false)
    .addHelpText(
      'after',
      `
The file holds an envelope; without one, an example's is taken.
  stepwell cost order.json --messages ./my-messages.ts`,
    )
    .action((file, options) =>
      run(async () => {
        const { cost } = await import('./commands/cost.ts');
        return cost(file, options, io);
      }),
    );
}

function addMessageCommands(program: Command, io: Io, run: Runner): void {
  onTarget(
    program
      .command('send <file>')
      .description('Send an envelope, or an array of them, from a JSON file or standard input (-).')
      .option('--raw', 'send the text as one body without checking it', false),
  ).action((file, options) =>
    run(async () => {
      const { send } = await import('./commands/send.ts');
      return send(file, options, await open(options, io), io);
    }),
  );
  onTarget(
    program
      .command('ls')
      .description('What needs a person, and how many executions stand where.')
      .option('--since <duration>', 'how far back to look: 30m, 24h, 7d', '24h'),
  ).action((options) =>
    run(async () => {
      const { ls } = await import('./commands/ls.ts');
      return ls(options, await open(options, io), io);
    }),
  );
  onTarget(
    program
      .command('show <key>')
      .description(
        'All that is known of an idempotency key: inbox row, execution, states, effects, console link.',
      ),
  ).action((key, options) =>
    run(async () => {
      const { show } = await import('./commands/show.ts');
      return show(key, options.json, await open(options, io), io);
    }),
  );
}

function addOperatorCommands(program: Command, io: Io, run: Runner): void {
  onTarget(
    program
      .command('replay [key]')
      .description(
        'Give failed work a fresh budget: one key, all of a failure code, or an aggregate in order.',
      )
      .option('--code <code>', 'failed with this code')
      .option('--aggregate <type/id>', "an aggregate's failed messages, in version order")
      .option('--since <duration>', 'with --code: failed within this time', '24h')
      .option('--sample <n>', 'replay so many first and wait for their outcomes', count)
      .option('--continue', 'go on after a sample in which some failed', false)
      .option('--max <n>', 'never more than this', count, 100)
      .option('--rate <n>', 'replays begun a second', count, 5)
      .option('--wait <seconds>', 'how long to wait for outcomes', count, 300)
      .option(
        '--new-definition',
        'start a new execution -r<n> on the newest definition instead of a redrive',
        false,
      )
      .option('--dry-run', 'say what would happen', false)
      .addHelpText(
        'after',
        `
A redrive is possible for 14 days and goes on with the execution's own definition and the newest handlers; after
that a new execution -r<n> takes over. A completed key is never run again.
  stepwell replay --code CASE_CLOSED --since 24h --sample 5`,
      ),
  ).action((key, options) =>
    run(async () => {
      const { replay } = await import('./commands/replay.ts');
      return replay(key, options, await open(options, io), io);
    }),
  );
  onTarget(
    program
      .command('forget <aggregate>')
      .description('Erase what the worker holds of an aggregate (TYPE/ID); each key stays known.')
      .option('--yes', 'it cannot be undone', false)
      .option('--keep-aggregate', "leave the aggregate's own item", false)
      .addHelpText(
        'after',
        `
Erased: payloads put aside, effects, outbox and quarantine rows, the aggregate's item, its messages in the dead-letter
and the quarantine queue. Out of reach: histories of types without data: 'reference' (they go 90 days after the end),
the worker's own queue, backups, tables of the domain. 1 when something is left: ask again.`,
      ),
  ).action((aggregate, options) =>
    run(async () => {
      const { forget } = await import('./commands/forget.ts');
      return forget(aggregate, options, await open(options, io), io);
    }),
  );
  onTarget(
    program
      .command('doctor')
      .description(
        'Check a deployed worker against the production checklist, line by line; 1 when a line fails.',
      ),
  ).action((options) =>
    run(async () => {
      const { doctor } = await import('./commands/doctor.ts');
      return doctor(options.json, await open(options, io), io);
    }),
  );
  onTarget(
    program
      .command('smoke')
      .description(
        'Send one message of each outcome, and check what becomes of it; 1 when one is not as expected.',
      )
      .option('--effects', 'a payment of one cent too, for stacks whose provider is a test endpoint', false)
      .option('--wait <seconds>', 'how long all outcomes are waited for', count, 300)
      .addHelpText(
        'after',
        `
For stacks with the example types. Keys are new in each run. Its dead letters are removed and its cases closed, its
rows stay and expire; events leave by the outbox if the stack has one, with the producer stepwell-smoke.`,
      ),
  ).action((options) =>
    run(async () => {
      const { smoke } = await import('./commands/smoke.ts');
      return smoke(options, await open(options, io), io);
    }),
  );
  const dlq = program.command('dlq').description('The dead-letter queue: what could not be read or started.');
  onTarget(
    dlq
      .command('peek')
      .description('Show dead letters and leave them.')
      .option('--count <n>', 'how many', count, 10),
  ).action((options) =>
    run(async () => {
      const { peek } = await import('./commands/dlq.ts');
      return peek(options.count, options.json, await open(options, io), io);
    }),
  );
  onTarget(
    dlq
      .command('redrive')
      .description('Send dead letters back to the queue: a sample first, then all.')
      .option('--sample <n>', 'only so many', count),
  ).action((options) =>
    run(async () => {
      const { redrive } = await import('./commands/dlq.ts');
      return redrive(options, await open(options, io), io);
    }),
  );
  addEffectCommands(program, io, run);
  const quarantine = program.command('quarantine').description('The cases that wait for a person.');
  onTarget(
    quarantine
      .command('ls')
      .description('Open cases, oldest first.')
      .option('--since <duration>', 'opened within this time', '7d')
      .option('--closed', 'the closed ones too', false),
  ).action((options) =>
    run(async () => {
      const { list } = await import('./commands/quarantine.ts');
      return list(options, await open(options, io), io);
    }),
  );
  onTarget(quarantine.command('show <case>').description('One case with its message.')).action(
    (id, options) =>
      run(async () => {
        const { showCase } = await import('./commands/quarantine.ts');
        return showCase(id, await open(options, io), io);
      }),
  );
  onTarget(
    quarantine
      .command('close <case>')
      .description('Close a case that needs no replay.')
      .requiredOption('--reason <text>', 'why, for whoever reads it later')
      .option('--by <name>', 'who (default: the USER variable)', io.env.USER ?? 'operator'),
  ).action((id, options) =>
    run(async () => {
      const { close } = await import('./commands/quarantine.ts');
      return close(id, options, await open(options, io), io);
    }),
  );
}

function addEffectCommands(program: Command, io: Io, run: Runner): void {
  const effects = program.command('effects').description('External effects that need a person.');
  onTarget(
    effects
      .command('ls')
      .description('Effects in doubt: called, and nobody knows whether they happened.')
      .option('--in-doubt', 'those in doubt, which is all that is listed', true)
      .option('--since <duration>', 'in doubt since within this time', '7d'),
  ).action((options) =>
    run(async () => {
      const { listInDoubt } = await import('./commands/effects.ts');
      return listInDoubt(options, await open(options, io), io);
    }),
  );
  onTarget(
    effects
      .command('resolve <effect>')
      .description('Say what became of an effect in doubt; the executions that wait for it go on.')
      .option('--completed', 'it has happened')
      .option('--reference <reference>', "with --completed: the provider's own name of it")
      .option('--response <json>', "with --completed: the provider's answer, for handlers that read it")
      .option('--not-done', 'it has not happened: it is carried out again under a new provider key')
      .option('--failed <code>', 'it has not happened and is not to: the message fails with this code')
      .addHelpText(
        'after',
        `
Ask the provider first: --not-done for what has happened makes it happen twice.
  stepwell effects resolve 'notice:N-1#deliver' --completed --reference post-77`,
      ),
  ).action((effect, options) =>
    run(async () => {
      const { resolve } = await import('./commands/resolve-effect.ts');
      return resolve(effect, options, await open(options, io), io);
    }),
  );
  const cache = program.command('cache').description('Answers of providers that messages share.');
  onTarget(
    cache
      .command('ls')
      .description('The shared answers, without the answers. Reads the whole table.')
      .option('--max <n>', 'never more than this', count, 100),
  ).action((options) =>
    run(async () => {
      const { listShared } = await import('./commands/cache.ts');
      return listShared(options, await open(options, io), io);
    }),
  );
  onTarget(
    cache.command('purge <key>').description('Make one void: the next message that asks calls the provider.'),
  ).action((key, options) =>
    run(async () => {
      const { purge } = await import('./commands/cache.ts');
      return purge(key, options.json, await open(options, io), io);
    }),
  );
}
