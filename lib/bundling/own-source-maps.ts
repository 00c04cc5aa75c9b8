import { readFile } from 'node:fs/promises';
import { basename, sep } from 'node:path';
import type { Plugin } from 'esbuild';

/**
 * Maps code of packages to its module and no further: Node reads the map when it loads the function, and nine tenths of
 * it would be lines of the SDK.
 *
 * @param own folder whose modules are mapped line by line, even where it lies among packages
 */
export const ownSourceMaps = (own: string): Plugin => ({
  name: 'own-source-maps',
  setup(builder) {
    builder.onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, async ({ path }) =>
      path.startsWith(own + sep)
        ? undefined
        : { contents: await readFile(path, 'utf8').then((code) => mappedByModule(path, code)), loader: 'js' },
    );
  },
});

/** The code with a map in which all of it has one place, the module's first line. */
export function mappedByModule(path: string, code: string): string {
  const map = JSON.stringify({ version: 3, sources: [basename(path)], mappings: 'AAAA' });
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString('base64')}`;
}
