/** The parts of this repository's manifest that the package takes over. */
interface RootManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** The package of an import: `@scope/name/file` is in `@scope/name`. */
export const packageOf = (path: string): string =>
  path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');

/** Modules that are no package: the construct binds them to the team's files, and `node` has its own. */
const BOUND = /^(stepwell-|aws-lambda$)/;

const entry = (types: string, file: string) => ({ types: `./dist/${types}`, default: `./dist/${file}` });

/**
 * The packed manifest: what the files import and nothing else. No pin of Node, nothing of the local runtime and the
 * command line, which are bundled.
 * @throws Error naming a package that is imported and that this repository does not depend on
 */
export function createManifest(root: RootManifest, used: ReadonlySet<string>, peers: readonly string[]) {
  const versions = { ...root.devDependencies, ...root.dependencies };
  const names = [...used].filter((name) => !peers.includes(name) && !BOUND.test(name)).sort();
  const dependencies = Object.fromEntries(
    [...new Set([...names, '@standard-schema/spec'])].map((name) => {
      const version = versions[name];
      if (version === undefined) throw new Error(`${name} is imported, but is no dependency in package.json`);
      return [name, `^${version}`];
    }),
  );
  return {
    name: root.name,
    version: root.version,
    description: root.description,
    license: root.license,
    engines: root.engines,
    files: ['dist', '!dist/manifest.json', 'CHANGELOG.md'],
    bin: { stepwell: 'dist/bin/stepwell.mjs' },
    main: './dist/cjs/main.cjs',
    types: './dist/lambdas/index.d.ts',
    exports: {
      '.': entry('lambdas/index.d.ts', 'cjs/main.cjs'),
      './cdk': entry('lib/index.d.ts', 'cjs/cdk.cjs'),
      './providers': entry('lambdas/shipped-providers.d.ts', 'cjs/providers.cjs'),
      './testing': entry('local/testing/index.d.ts', 'cjs/testing.cjs'),
      './package.json': './package.json',
    },
    dependencies,
    peerDependencies: { 'aws-cdk-lib': '^2.257.0', constructs: '^10.5.0' },
    peerDependenciesMeta: Object.fromEntries(peers.map((name) => [name, { optional: true }])),
  };
}
