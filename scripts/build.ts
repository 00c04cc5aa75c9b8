/**
 * Builds the package into `dist/`:
 *
 * - declarations of everything
 * - the functions as ES modules, which the construct bundles together with the team's own, and what bundles them
 * - what Node loads (`stepwell`, `stepwell/providers`, `stepwell/testing`, `stepwell/cdk`) as CommonJS, which every test runner and CDK app
 *   can load; the local runtime's and the command line's own dependencies are bundled into it
 * - the command line, and what its examples read
 * - `manifest.json`, the package's `package.json`, which `npm pack` puts in place (scripts/pack.mts)
 */
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { createManifest, packageOf } from './manifest.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');
const PEERS = ['aws-cdk-lib', 'constructs'];

/** Needed by the local runtime or the command line alone, and therefore bundled. */
const isBundled = (name: string): boolean => !isExternal(name);
const isExternal = (name: string): boolean =>
  PEERS.includes(name) || name === 'esbuild' || name.startsWith('@aws-sdk/');

/** Where a module lay, and so the files beside it, is worked out from the bundle's own place. */
const fileUrls: Plugin = {
  name: 'file-urls',
  setup(builder) {
    builder.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const url = (folder: string) => {
        const module = JSON.stringify(join(folder, relative(ROOT, path)));
        return `require('node:url').pathToFileURL(require('node:path').join(__dirname, ${module}))`;
      };
      const contents = readFileSync(path, 'utf8').replace(
        /new URL\(([^()]*), import\.meta\.url\)/g,
        // The manifest alone lies outside dist/.
        (_whole, file: string) => `new URL(${file}, ${url(file.includes('package.json') ? '../..' : '..')})`,
      );
      return { contents, loader: 'ts' };
    });
  },
};

/** A database on disk, with a native binary, that dynalite loads and the embedded store does not use. */
const noNativeDatabase: Plugin = {
  name: 'no-native-database',
  setup(builder) {
    builder.onResolve({ filter: /^classic-level$/ }, ({ path }) => ({ path, namespace: 'empty' }));
    builder.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: 'module.exports = {};' }));
  },
};

const externals: Plugin = {
  name: 'externals',
  setup(builder) {
    builder.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || isBuiltin(path) || isBundled(packageOf(path))
        ? undefined
        : { path, external: true },
    );
  },
};

async function bundle(source: string, outfile: string): Promise<readonly string[]> {
  const { metafile } = await build({
    stdin: { contents: source, resolveDir: ROOT, loader: 'ts' },
    outfile: join(DIST, outfile),
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: 'cjs',
    plugins: [noNativeDatabase, externals, fileUrls],
    metafile: true,
    legalComments: 'linked',
    logLevel: 'warning',
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  return imports.filter(({ external }) => external).map(({ path }) => path);
}

/** One way in to a bundle that several share. Names stand one by one, so that ES modules can import them. */
async function facade(name: string, part: string): Promise<void> {
  const { [part]: exported } = await import(join(DIST, 'cjs/stepwell.cjs'));
  const lines = Object.keys(exported).map((key) => `exports.${key} = part.${key};`);
  const text = `'use strict';\nconst { ${part}: part } = require('./stepwell.cjs');\n${lines.join('\n')}\n`;
  writeFileSync(join(DIST, 'cjs', `${name}.cjs`), text);
}

rmSync(DIST, { recursive: true, force: true });
execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'], {
  cwd: ROOT,
  stdio: 'inherit',
});
const BUNDLING = 'lib/bundling/*.js';
const modules = ['{lib,local,statemachines}/**/*.js', 'lambdas/messages/**'];
for (const file of globSync(modules, { cwd: DIST, exclude: [BUNDLING] })) {
  rmSync(join(DIST, file), { recursive: true, force: true });
}
// It runs as it is, and not through a bundler.
writeFileSync(join(DIST, 'lib/bundling/package.json'), '{ "type": "module" }\n');
cpSync(join(ROOT, 'statemachines/worker.asl.json'), join(DIST, 'statemachines/worker.asl.json'));
cpSync(join(ROOT, 'local/examples/messages'), join(DIST, 'local/examples/messages'), { recursive: true });
mkdirSync(join(DIST, 'bin'));
writeFileSync(
  join(DIST, 'bin/stepwell.mjs'),
  readFileSync(join(ROOT, 'bin/stepwell.mjs'), 'utf8').replace('../cli/run.ts', '../cjs/cli.cjs'),
);

const shared = await bundle(
  "export * as main from './lambdas/index.ts';\nexport * as testing from './local/testing/index.ts';\nexport * as providers from './lambdas/shipped-providers.ts';\nexport * as cli from './cli/run.ts';\n",
  'cjs/stepwell.cjs',
);
const cdk = await bundle("export * from './lib/index.ts';\n", 'cjs/cdk.cjs');
await facade('main', 'main');
await facade('testing', 'testing');
await facade('providers', 'providers');
await facade('cli', 'cli');

const functions = globSync(['lambdas/**/*.js', BUNDLING], { cwd: DIST }).flatMap((file) =>
  [...readFileSync(join(DIST, file), 'utf8').matchAll(/from '([^'.][^']*)'/g)].map(([, path = '']) => path),
);
const used = new Set([...shared, ...cdk, ...functions].filter((path) => !isBuiltin(path)).map(packageOf));
writeFileSync(
  join(DIST, 'manifest.json'),
  `${JSON.stringify(createManifest(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')), used, PEERS), undefined, 2)}\n`,
);
