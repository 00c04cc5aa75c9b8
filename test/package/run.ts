/**
 * The package as a team gets it: packed by a plain `npm pack`, installed into a fresh `cdk init` app, with handlers in
 * a sibling folder that has its own copy and its own dependencies. The app must compile, synthesise, and pass its own
 * Jest test, the handlers their Vitest test; the command line must work. Needs a registry.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { breakOffPack } from './broken-off-pack.ts';
import { tryCommandLine } from './command-line.ts';
import { checkManifest, checkTarball } from './contents.ts';
import { expectThat, runIn } from './steps.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FIXTURE = fileURLToPath(new URL('./fixture', import.meta.url));
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

const work = mkdtempSync(join(tmpdir(), 'stepwell-package-'));
const app = join(work, 'app');
const handlers = join(work, 'handlers');
const manifestBefore = readFileSync(join(ROOT, 'package.json'), 'utf8');
const { devDependencies } = JSON.parse(manifestBefore);

try {
  await breakOffPack(ROOT);
  expectThat(
    readFileSync(join(ROOT, 'package.json'), 'utf8') === manifestBefore,
    'a pack that is killed leaves package.json as it was',
  );
  runIn(ROOT, 'npm', ['pack', '--pack-destination', work, '--silent']);
  expectThat(
    readFileSync(join(ROOT, 'package.json'), 'utf8') === manifestBefore,
    'package.json is as it was',
  );

  const tarball = join(work, readdirSync(work).find((name) => name.endsWith('.tgz')) ?? '');
  const manifest = JSON.parse(
    execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' }),
  );
  checkManifest(manifest);
  checkTarball(runIn(work, 'tar', ['-tzf', tarball]).split('\n').filter(Boolean));
  const kilobytes = Math.round(statSync(tarball).size / 1024);
  expectThat(kilobytes < 1024, `the tarball has ${kilobytes} KB, which is less than 1 MB`);

  mkdirSync(app);
  runIn(app, process.execPath, [
    join(ROOT, 'node_modules/aws-cdk/bin/cdk'),
    'init',
    'app',
    '--language',
    'typescript',
    '--generate-only',
  ]);
  cpSync(join(FIXTURE, 'handlers'), handlers, { recursive: true });
  cpSync(join(FIXTURE, 'app'), app, { recursive: true });
  const runners = ['vitest', 'vite', 'typescript', '@types/node'].map(
    (name) => `${name}@${devDependencies[name]}`,
  );
  runIn(handlers, 'npm', ['install', ...QUIET, tarball, 'valibot', 'fast-deep-equal@3.1.3', ...runners]);
  const installed = readdirSync(join(handlers, 'node_modules'));
  expectThat(!installed.includes('aws-cdk-lib'), 'handlers alone bring no CDK');
  expectThat(!installed.includes('dynalite'), 'handlers alone bring nothing of the local runtime');
  runIn(handlers, 'npx', ['vitest', 'run']);
  expectThat(true, 'the handlers’ own Vitest test passes');
  for (const [module, resolution] of [
    ['node16', 'node16'],
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ] as const) {
    const how = [
      '--module',
      module,
      '--moduleResolution',
      resolution,
      '--target',
      'es2024',
      '--types',
      'node',
    ];
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
    const files = ['messages.ts', 'providers.ts', 'types.ts'];
    const flags = ['--noEmit', '--allowImportingTsExtensions', '--skipLibCheck', 'false', ...strict, ...how];
    runIn(handlers, 'npx', ['tsc', ...flags, ...files]);
  }
  expectThat(true, 'the types are whole by themselves, however modules are resolved');
  await tryCommandLine(handlers);

  runIn(app, 'npm', ['install', ...QUIET, tarball]);
  runIn(app, 'npx', ['tsc']);
  const template = runIn(app, 'npx', ['cdk', 'synth', '--quiet=false', '--json']);
  expectThat(template.includes('AWS::StepFunctions::StateMachine'), 'the app synthesises a state machine');
  expectThat(template.includes('"PROVIDER": "Shop"'), 'a shipped provider has a function of its own');
  runIn(app, 'npx', ['jest']);
  expectThat(true, 'the app’s own Jest test passes');
} finally {
  rmSync(work, { recursive: true, force: true });
}
