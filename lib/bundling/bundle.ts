import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { builtins } from './builtins.ts';
import { ownSourceMaps } from './own-source-maps.ts';
import { sdkDiet } from './sdk-diet.ts';

/** What is bundled, and where to. */
export interface BundleRequest {
  /** Absolute path of the function's entry. */
  readonly entry: string;
  /** Absolute path of the folder that gets `index.mjs`, and chunks beside it. */
  readonly outdir: string;
  /** Modules by the specifier under which they are imported. */
  readonly alias: Readonly<Record<string, string>>;
  /** Modules in the place of those that the SDK imports, by specifier. */
  readonly standIns: Readonly<Record<string, string>>;
  /** Folders in which packages are looked for at last. */
  readonly nodePaths: readonly string[];
}

/** Packages of ES modules that still call `require` find it under this name. */
const REQUIRE = "const require=process.getBuiltinModule('node:module').createRequire(import.meta.url);";
const ENTRY = 'index.mjs';

/**
 * Bundles one function: `index.mjs`, and a chunk for what is loaded when it is first needed.
 * @throws Error with esbuild's messages
 */
export async function bundle({ entry, outdir, alias, standIns, nodePaths }: BundleRequest): Promise<void> {
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    outdir,
    entryNames: 'index',
    chunkNames: '[name]-[hash]',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    banner: { js: REQUIRE },
    alias: { ...alias },
    nodePaths: [...nodePaths],
    plugins: [builtins, sdkDiet(standIns), ownSourceMaps(dirname(dirname(entry)))],
    minify: true,
    legalComments: 'none',
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  mkdirSync(outdir, { recursive: true });
  const loaded = loadedFrom(join(outdir, ENTRY), metafile);
  for (const { path, contents } of outputFiles) {
    if (loaded.has(path.replace(/\.map$/, ''))) writeFileSync(path, contents);
  }
}

/** A chunk is made for every module that is imported by name somewhere, even where that code itself was left out. */
function loadedFrom(entry: string, { outputs }: Metafile): ReadonlySet<string> {
  const byPath = new Map(Object.entries(outputs).map(([path, output]) => [resolve(path), output]));
  const seen = new Set<string>();
  const visit = (path: string) => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { path: imported, external } of byPath.get(path)?.imports ?? []) {
      if (external !== true) visit(resolve(imported));
    }
  };
  visit(entry);
  return seen;
}
