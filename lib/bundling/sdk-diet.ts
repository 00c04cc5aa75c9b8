import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';
import { mappedByModule } from './own-source-maps.ts';

/** `"name"` constants at the top of a schema module. */
const CONSTANT = /^const (\w+) = ("[^"\\\n]*");$/gm;
const COMPUTED_KEY = /\[(\w+)\]:/g;

/** Where a machine keeps its user's settings. Of all the SDK's providers of settings it is the one with files. */
const CONFIG_FILES = /@smithy[\\/]core[\\/].*[\\/]fromSharedConfigFiles\.js$/;
const NO_CONFIG_FILES = `
export const fromSharedConfigFiles = () => async () => {
  throw Object.assign(new Error('A function has no configuration files'), { tryNextLink: true });
};`;

/**
 * Lets esbuild leave out what a function does not use of the AWS SDK.
 *
 * - A client's module of schemas describes every operation. esbuild keeps an object with a computed key, since making
 *   the key might have an effect: the keys, which are constants, are written out.
 * - A client reads its version from its manifest, which comes whole: the version alone is left.
 * - What the SDK looks for in `~/.aws` is not there: settings are those of the environment.
 *
 * @param standIns modules in the place of those that the SDK loads when it first needs them, by specifier
 */
export const sdkDiet = (standIns: Readonly<Record<string, string>>): Plugin => ({
  name: 'sdk-diet',
  setup(builder) {
    builder.onLoad({ filter: /@aws-sdk[\\/].*[\\/]schemas[\\/]\w+\.js$/ }, async ({ path }) => ({
      contents: mappedByModule(path, withPlainKeys(await readFile(path, 'utf8'))),
      loader: 'js',
    }));
    builder.onLoad({ filter: /@aws-sdk[\\/][\w-]+[\\/]package\.json$/ }, async ({ path }) => {
      const { version }: { readonly version: string } = JSON.parse(await readFile(path, 'utf8'));
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
    builder.onLoad({ filter: CONFIG_FILES }, ({ path }) => ({
      contents: mappedByModule(path, NO_CONFIG_FILES),
      loader: 'js',
    }));
    builder.onResolve({ filter: /^@(aws-sdk|smithy)\// }, ({ path, kind }) => {
      const standIn = kind === 'dynamic-import' ? standIns[path] : undefined;
      return standIn === undefined ? undefined : { path: standIn };
    });
  },
});

function withPlainKeys(code: string): string {
  const constants = new Map([...code.matchAll(CONSTANT)].map(([, name = '', text = '']) => [name, text]));
  return code.replace(COMPUTED_KEY, (whole, name: string) => {
    const text = constants.get(name);
    return text === undefined ? whole : `${text}:`;
  });
}
