import { Command, InvalidArgumentError } from 'commander';
import type { ExitCode } from './exit-codes.ts';
import type { Io } from './io.ts';

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
  return program;
}
