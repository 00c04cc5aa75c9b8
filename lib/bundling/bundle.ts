import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { builtins } from './builtins.ts';
import { bundlesOnDemand } from './on-demand.ts';
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
  /** Folders in which packages are looked for at last. */
  readonly nodePaths: readonly string[];
}

/** Packages of ES modules that still call `require` find it under this name. */
const REQUIRE = "const require=process.getBuiltinModule('node:module').createRequire(import.meta.url);";

/**
 * Bundles one function: `index.mjs`, chunks for what it imports by name, and a bundle of its own for each module that is
 * loaded on demand. Those bundles share no code with the rest: a shared chunk would be read at every start, with all that
 * only they need of the SDK's core.
 *
 * @throws Error with esbuild's messages
 */
export async function bundle({ entry, outdir, alias, nodePaths }: BundleRequest): Promise<void> {
  const plugins = [builtins, sdkDiet, ownSourceMaps(dirname(dirname(entry)))];
  const options = {
    outdir,
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
    minify: true,
    legalComments: 'none',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'silent',
  } satisfies BuildOptions;
  mkdirSync(outdir, { recursive: true });
  const onDemand = bundlesOnDemand();
  const wanted = await write({
    ...options,
    entryPoints: { index: entry },
    plugins: [onDemand.plugin, ...plugins],
  });
  const entryPoints = onDemand.entriesOf(wanted);
  if (Object.keys(entryPoints).length > 0) await write({ ...options, entryPoints, plugins });
}

/**
 * Writes the entries and the chunks that they load. esbuild makes a chunk for every module that is imported by name
 * somewhere, even if the importing code was left out: such chunks are not written.
 *
 * @returns what is imported and not bundled
 */
async function write(
  options: BuildOptions & { readonly outdir: string; readonly entryPoints: Record<string, string> },
): Promise<ReadonlySet<string>> {
  const { outputFiles, metafile } = await build({ ...options, metafile: true, write: false });
  const entries = Object.keys(options.entryPoints).map((name) => join(options.outdir, `${name}.mjs`));
  const { files, external } = loadedFrom(entries, metafile);
  for (const { path, contents } of outputFiles) {
    if (files.has(path.replace(/\.map$/, ''))) writeFileSync(path, contents);
  }
  return external;
}

function loadedFrom(entries: readonly string[], { outputs }: Metafile) {
  const byPath = new Map(Object.entries(outputs).map(([path, output]) => [resolve(path), output]));
  const files = new Set<string>();
  const external = new Set<string>();
  const visit = (path: string) => {
    if (files.has(path)) return;
    files.add(path);
    for (const { path: imported, external: isExternal } of byPath.get(path)?.imports ?? []) {
      if (isExternal === true) external.add(imported);
      else visit(resolve(imported));
    }
  };
  for (const entry of entries) visit(entry);
  return { files, external };
}
