import { execFileSync } from 'node:child_process';

/** Runs a command, and gives what it wrote. @throws Error when it fails */
export function runIn(
  cwd: string,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): string {
  process.stdout.write(`\n$ ${command} ${args.join(' ')}\n`);
  return execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
}

/** @throws Error when it does not hold */
export function expectThat(holds: boolean, what: string): void {
  if (!holds) throw new Error(`The package is not as it should be: ${what}`);
  process.stdout.write(`ok: ${what}\n`);
}
