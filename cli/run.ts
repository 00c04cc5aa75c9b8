import { text } from 'node:stream/consumers';
import { systemClock, systemId, systemRandom } from '../lambdas/aws/system.ts';
import { main } from './main.ts';

/** Runs the command line in this process: Ctrl+C ends it cleanly, and once more ends it at once. */
export async function run(args: readonly string[]): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stop.abort(new Error('stopped by the user')));
  }
  // A reader such as `head` that has seen enough is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    throw error;
  });
  process.exitCode = await main(args, {
    out: (line) => process.stdout.write(`${line}\n`),
    note: (line) => process.stderr.write(`${line}\n`),
    readInput: () => text(process.stdin),
    clock: systemClock,
    random: systemRandom,
    newId: systemId,
    signal: stop.signal,
    env: process.env,
    cwd: process.cwd(),
  });
}
