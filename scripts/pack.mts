/**
 * Lets `npm pack` take the package's own manifest instead of this repository's, which holds scripts, pins of Node and
 * what only the tests and the local runtime need:
 *
 *   begin     builds the package, puts its manifest into package.json and keeps the repository's aside (prepack)
 *   restore   puts the repository's back; does nothing when it is there (postpack)
 *   guard     restores once npm is gone, should it end without postpack: begun by `begin`, beside npm
 */
import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, existsSync, renameSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const inRoot = (file: string) => fileURLToPath(new URL(`../${file}`, import.meta.url));
const MANIFEST = inRoot('package.json');
const KEPT = inRoot('package.json.repository');
const NEXT = inRoot('package.json.next');
const LOOK_MILLIS = 250;

function restore(): void {
  if (existsSync(KEPT)) renameSync(KEPT, MANIFEST);
}

/** The npm that this script runs under; undefined where it runs under none, or processes cannot be listed. */
function npmAbove(): number | undefined {
  let pid = process.ppid;
  try {
    while (pid > 1) {
      const row = execFileSync('ps', ['-o', 'ppid=,args=', '-p', String(pid)], { encoding: 'utf8' });
      const [, parent = '0', args = ''] = /^\s*(\d+)\s+(.*)/.exec(row) ?? [];
      if (/^(npm|\S*node\S* \S*npm(-cli\.js)?)( |$)/.test(args)) return pid;
      pid = Number(parent);
    }
  } catch {
    return undefined;
  }
  return undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const [step, npm] = process.argv.slice(2);
if (step === 'begin') {
  // What an earlier pack left when it was broken off and nothing guarded it.
  restore();
  await import('./build.ts');
  const pid = npmAbove();
  // Each file is whole at every moment, and the repository's is never nowhere.
  copyFileSync(inRoot('dist/manifest.json'), NEXT);
  copyFileSync(MANIFEST, KEPT);
  renameSync(NEXT, MANIFEST);
  if (pid !== undefined) {
    const self = fileURLToPath(import.meta.url);
    spawn(process.execPath, [self, 'guard', String(pid)], { detached: true, stdio: 'ignore' }).unref();
  }
} else if (step === 'restore') {
  restore();
} else if (step === 'guard') {
  while (existsSync(KEPT) && isAlive(Number(npm))) await sleep(LOOK_MILLIS);
  restore();
} else {
  throw new Error('node scripts/pack.mts begin | restore');
}
