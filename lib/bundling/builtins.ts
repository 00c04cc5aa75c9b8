import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

/**
 * Takes Node's own modules as `require` does. For an `import`, Node makes a module of every export, and reading them
 * all loads what nobody uses: WebCrypto with `node:crypto`, WebSocket and `fetch` with `node:http`.
 */
export const builtins: Plugin = {
  name: 'builtins',
  setup(builder) {
    builder.onResolve({ filter: /^[a-z]/ }, ({ path }) =>
      isBuiltin(path)
        ? { path: path.replace(/^node:/, ''), namespace: 'builtin', sideEffects: false }
        : undefined,
    );
    builder.onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('node:${path}');`,
      loader: 'js',
    }));
  },
};
