import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectThat } from './steps.ts';

const PATIENCE_MILLIS = 120_000;

/** Kills `npm pack` while the package's manifest stands in the place of the repository's, and waits until it is back. */
export async function breakOffPack(root: string): Promise<void> {
  process.stdout.write('\n$ npm pack, killed half-way\n');
  const kept = join(root, 'package.json.repository');
  const pack = spawn('npm', ['pack', '--dry-run', '--silent'], { cwd: root, stdio: 'ignore' });
  const until = Date.now() + PATIENCE_MILLIS;
  while (!existsSync(kept)) {
    if (Date.now() > until || pack.exitCode !== null) expectThat(false, 'npm pack is under way');
    await sleep(1);
  }
  pack.kill('SIGKILL');
  while (existsSync(kept)) {
    if (Date.now() > until) expectThat(false, 'the repository’s package.json is put back');
    await sleep(50);
  }
}
