import { CommanderError } from 'commander';
import { CliError } from './cli-error.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { isDenied, isUnreachable, isWithoutCredentials } from './failures.ts';
import type { Io } from './io.ts';
import { createProgram } from './program.ts';
import { plain } from './table.ts';

/**
 * Runs the command line.
 * @param args without the program's name
 * @returns the exit code; never throws for what can be foreseen
 */
export async function main(args: readonly string[], io: Io): Promise<ExitCode> {
  let answer: ExitCode = EXIT.OK;
  const program = createProgram(io, async (work) => {
    answer = await work();
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return answer;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.OK : EXIT.USAGE;
    if (io.signal.aborted) {
      io.note('Stopped: what was begun goes on, and nothing more is begun.');
      return EXIT.FAILED;
    }
    if (error instanceof CliError) {
      io.note(error.message.split('\n').map(plain).join('\n'));
      return error.exitCode;
    }
    if (error instanceof Error && (isUnreachable(error) || isDenied(error))) {
      io.note(whyUnreachable(error));
      return EXIT.UNREACHABLE;
    }
    if (error instanceof Error && isRefused(error)) {
      io.note(`The service refused it: ${plain(error.message)} (${error.name})`);
      return EXIT.FAILED;
    }
    throw error;
  }
}

function whyUnreachable(error: Error): string {
  if (isWithoutCredentials(error)) {
    return 'No AWS credentials were found: sign in (aws sso login), or set AWS_PROFILE or AWS_ACCESS_KEY_ID; aws sts get-caller-identity shows who you are';
  }
  const why = `${plain(error.message)} (${error.name})`;
  if (isDenied(error)) {
    return `Your credentials may not do this: ${why}\nThe operators' policy has the right: the stack's output OperatorPolicyArn.`;
  }
  return `The worker cannot be reached: ${why}\nLocal: is the runtime still there (npx stepwell local)? AWS: check credentials and Region.`;
}

/** The AWS SDK's mark of what a service answers to a request that is at fault itself. */
function isRefused(error: Error): boolean {
  return '$fault' in error && error.$fault === 'client';
}
