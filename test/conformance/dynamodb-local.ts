import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

// Runs the DynamoDB contract against AWS's own DynamoDB Local: `npm run test:dynamodb-local`.
// It is fetched into a temporary folder, so that neither the lockfile nor an installation carries it.

const PACKAGE = 'amplify-dynamodb-simulator@2.9.30';
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 200;
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** Runs a command to its end with our output; returns its exit code. */
async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number> {
  const child = spawn(command, args, { cwd: PROJECT, stdio: 'inherit', env: { ...process.env, ...env } });
  const [code] = await once(child, 'exit');
  return typeof code === 'number' ? code : 1;
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') {
    throw new Error('The system gave no free port');
  }
  return address.port;
}

async function untilAnswering(endpoint: string, java: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline) {
    if (java.exitCode !== null) {
      throw new Error(`DynamoDB Local ended with code ${java.exitCode} before it answered`);
    }
    const answered = await fetch(endpoint).then(
      () => true,
      () => false,
    );
    if (answered) {
      return;
    }
    await sleep(POLL_MS);
  }
  throw new Error(`DynamoDB Local did not answer at ${endpoint} within ${START_TIMEOUT_MS / 1000} s`);
}

async function stop(java: ChildProcess): Promise<void> {
  if (java.exitCode === null && java.signalCode === null) {
    const ended = once(java, 'exit');
    java.kill();
    await ended;
  }
}

async function main(folder: string): Promise<number> {
  console.log(`Installing ${PACKAGE} into ${folder} …`);
  const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const installed = await run('npm', [...install, '--prefix', folder, PACKAGE]);
  if (installed !== 0) {
    console.error(`npm could not install ${PACKAGE}; see its output above`);
    return installed;
  }
  const emulator = join(folder, 'node_modules', 'amplify-dynamodb-simulator', 'emulator');
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const java = spawn(
    'java',
    [
      '-Djava.library.path=./DynamoDBLocal_lib',
      '-jar',
      'DynamoDBLocal.jar',
      '-inMemory',
      '-port',
      String(port),
    ],
    { cwd: emulator, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  try {
    await untilAnswering(endpoint, java);
    console.log(`DynamoDB Local answers at ${endpoint}`);
    const vitest = join(PROJECT, 'node_modules', 'vitest', 'vitest.mjs');
    return await run(process.execPath, [vitest, 'run', 'test/conformance/dynamodb.test.ts'], {
      DYNAMODB_LOCAL_ENDPOINT: endpoint,
    });
  } finally {
    await stop(java);
  }
}

if (spawnSync('java', ['-version']).status === 0) {
  const folder = mkdtempSync(join(tmpdir(), 'dynamodb-local-'));
  try {
    process.exitCode = await main(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
} else {
  console.log('skipped: DynamoDB Local needs Java, and there is no `java` on the PATH');
}
