import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startStackServer } from '../helpers/stack-server.ts';
import { expectThat, runIn } from './steps.ts';

const START_MILLIS = 60_000;

/** The installed command line: a local runtime for the team's own types, and a deployed stack's worker. */
export async function tryCommandLine(folder: string): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(folder, 'node_modules/stepwell/package.json'), 'utf8'));
  expectThat(
    runIn(folder, 'npx', ['stepwell', '--version']).trim() === version,
    'the command line has a version',
  );
  const costs = runIn(folder, 'npx', ['stepwell', 'cost', '--count', '10', '--json']);
  expectThat(
    JSON.parse(costs).totalPerMillion > 0,
    'it tells costs, by the examples that the package brings',
  );

  const portFile = join(folder, '.stepwell/local.json');
  const bin = join(folder, 'node_modules/.bin/stepwell');
  const local = spawn(process.execPath, [bin, 'local', '--messages', 'messages.ts', '--quiet'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise((done) => local.once('exit', done));
  try {
    for (const until = Date.now() + START_MILLIS; !existsSync(portFile); await sleep(100)) {
      if (Date.now() > until || local.exitCode !== null) expectThat(false, 'the local runtime starts');
    }
    const { url, names } = JSON.parse(readFileSync(portFile, 'utf8'));
    runIn(folder, 'npx', ['stepwell', 'send', 'order.json']);
    for (const until = Date.now() + START_MILLIS; ; await sleep(200)) {
      const shown = runIn(folder, 'npx', ['stepwell', 'show', 'order:O-1:placed', '--json']);
      if (JSON.parse(shown).inbox?.status === 'COMPLETED') break;
      if (Date.now() > until) expectThat(false, 'the order is completed in time');
    }
    expectThat(true, 'stepwell local --messages serves the team’s types; send and show find them');
    await tryStack(folder, url, names);
  } finally {
    local.kill('SIGINT');
    await ended;
  }
}

/** The stack's server is in this process, so that nothing may block it. */
async function tryStack(
  folder: string,
  runtime: string,
  names: Readonly<Record<string, string>>,
): Promise<void> {
  const server = await startStackServer({
    stack: 'Shop',
    forwardTo: runtime,
    outputs: (url) => ({
      WorkerNames: JSON.stringify({
        ...names,
        ...Object.fromEntries(
          Object.entries(names)
            .filter(([name]) => name.endsWith('Url'))
            .map(([name, value]) => [name, `${url}${new URL(value).pathname}`]),
        ),
      }),
    }),
  });
  try {
    const { stdout } = await promisify(execFile)('npx', ['stepwell', 'ls', '--stack', 'Shop'], {
      cwd: folder,
      env: {
        ...process.env,
        AWS_ENDPOINT_URL: server.url,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'test',
        AWS_SECRET_ACCESS_KEY: 'test',
      },
    });
    process.stdout.write(stdout);
    expectThat(stdout.length > 0, 'stepwell ls --stack finds the worker by the stack’s outputs');
  } finally {
    await server.close();
  }
}
