import { builtinModules } from 'node:module';
import type { Plugin } from 'esbuild';

const BUILTIN = new RegExp(`^(node:.+|${builtinModules.filter((name) => !name.startsWith('_')).join('|')})$`);

/**
 * Takes Node's own modules as `require` does. For an `import`, Node makes a module of every export, and reading them
 * all loads what nobody uses: WebCrypto with `node:crypto`, WebSocket and `fetch` with `node:http`.
 */
export const builtins: Plugin = {
  name: 'builtins',
  setup(builder) {
    builder.onResolve({ filter: BUILTIN }, ({ path }) => ({
      path: path.replace(/^node:/, ''),
      namespace: 'builtin',
      sideEffects: false,
    }));
    builder.onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('node:${path}');`,
      loader: 'js',
    }));
  },
};
