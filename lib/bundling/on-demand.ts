import { basename, extname, join } from 'node:path';
import type { Plugin } from 'esbuild';

/** A module of this folder becomes a bundle of its own when it is loaded by `import()`. */
const FOLDER = /[\\/]on-demand[\\/]/;

/**
 * Leaves the modules of the folder `on-demand` out of a bundle that loads them, and says which they were: `x.ts` is
 * loaded as `on-demand-x.mjs`, beside the bundle.
 */
export function bundlesOnDemand() {
  const sources = new Map<string, string>();
  const plugin: Plugin = {
    name: 'on-demand',
    setup(builder) {
      builder.onResolve({ filter: FOLDER }, ({ path, kind, resolveDir }) => {
        if (kind !== 'dynamic-import') return undefined;
        const file = `./on-demand-${basename(path, extname(path))}.mjs`;
        sources.set(file, join(resolveDir, path));
        return { path: file, external: true };
      });
    },
  };
  return {
    plugin,
    /** Entries by the name of the file to write, of those that are still imported once unused code is gone. */
    entriesOf: (imported: ReadonlySet<string>): Record<string, string> =>
      Object.fromEntries(
        [...sources].flatMap(([file, source]) =>
          imported.has(file) ? [[basename(file, '.mjs'), source]] : [],
        ),
      ),
  };
}
