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
      contents: taken(path),
      loader: 'js',
    }));
  },
};

/** Exports are taken when they are first read, where the module is a plain object: many are for calls never made. */
function taken(path: string): string {
  const name = `node:${path}`;
  const take = `process.getBuiltinModule(${JSON.stringify(name)})`;
  const module: unknown = process.getBuiltinModule(name);
  if (typeof module !== 'object' || module === null || Object.getPrototypeOf(module) !== Object.prototype) {
    return `module.exports = ${take};`;
  }
  return `for (const name of ${JSON.stringify(Object.getOwnPropertyNames(module))})
    Object.defineProperty(exports, name, { enumerable: true, get: () => ${take}[name] });`;
}
