#!/usr/bin/env node
// Plain JavaScript of an old kind: it must be read by a Node that is too old for everything else, to say so.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const [major, minor] = process.versions.node.split('.').map(Number);

if (process.features.typescript) {
  const { run } = await import('../cli/run.ts');
  await run(process.argv.slice(2));
} else if (major > 22 || (major === 22 && minor >= 12)) {
  // Types are stripped only on request before Node 22.18.
  const self = fileURLToPath(import.meta.url);
  const flags = ['--experimental-strip-types', '--disable-warning=ExperimentalWarning', ...process.execArgv];
  const child = spawnSync(process.execPath, [...flags, self, ...process.argv.slice(2)], { stdio: 'inherit' });
  process.exitCode = child.status === null ? 1 : child.status;
} else {
  process.stderr.write(
    `stepwell needs Node 22.12 or newer, and this is ${process.versions.node}.\n` +
      'Install Node 24 from https://nodejs.org. In a clone of the project, "npm start" and "npx" take the Node 24 that\n' +
      'npm ci puts into node_modules on Linux and Windows.\n',
  );
  process.exitCode = 1;
}
