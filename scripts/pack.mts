/**
 * Lets `npm pack` take the package's own manifest instead of this repository's, which holds scripts, pins of Node and
 * what only the tests and the local runtime need:
 *
 *   begin     builds the package, puts its manifest into package.json and keeps the repository's aside (prepack)
 *   restore   puts the repository's back; does nothing when it is there (postpack, or by hand after a broken-off pack)
 */
import { copyFileSync, existsSync, renameSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const inRoot = (file: string) => fileURLToPath(new URL(`../${file}`, import.meta.url));
const MANIFEST = inRoot('package.json');
const KEPT = inRoot('package.json.repository');
const NEXT = inRoot('package.json.next');

function restore(): void {
  if (existsSync(KEPT)) renameSync(KEPT, MANIFEST);
}

const [step] = process.argv.slice(2);
if (step === 'begin') {
  // What an earlier pack left when it was broken off.
  restore();
  await import('./build.ts');
  // Each file is whole at every moment, and the repository's is never nowhere.
  copyFileSync(inRoot('dist/manifest.json'), NEXT);
  copyFileSync(MANIFEST, KEPT);
  renameSync(NEXT, MANIFEST);
} else if (step === 'restore') {
  restore();
} else {
  throw new Error('node scripts/pack.mts begin | restore');
}
