import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

/** `"name"` constants at the top of a schema module. */
const CONSTANT = /^const (\w+) = ("[^"\\\n]*");$/gm;
const COMPUTED_KEY = /\[(\w+)\]:/g;

/**
 * Lets esbuild leave out what a function does not use of the AWS SDK.
 *
 * - A client's module of schemas describes every operation. esbuild keeps an object with a computed key, since making
 *   the key might have an effect: the keys, which are constants, are written out.
 * - A client reads its version from its manifest, which comes whole: the version alone is left.
 */
export const sdkDiet: Plugin = {
  name: 'sdk-diet',
  setup(builder) {
    builder.onLoad({ filter: /@aws-sdk[\\/].*[\\/]schemas[\\/]\w+\.js$/ }, async ({ path }) => ({
      contents: withPlainKeys(await readFile(path, 'utf8')),
      loader: 'js',
    }));
    builder.onLoad({ filter: /@aws-sdk[\\/][\w-]+[\\/]package\.json$/ }, async ({ path }) => {
      const { version }: { readonly version: string } = JSON.parse(await readFile(path, 'utf8'));
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
  },
};

function withPlainKeys(code: string): string {
  const constants = new Map([...code.matchAll(CONSTANT)].map(([, name = '', text = '']) => [name, text]));
  return code.replace(COMPUTED_KEY, (whole, name: string) => {
    const text = constants.get(name);
    return text === undefined ? whole : `${text}:`;
  });
}
