import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Plugin } from 'esbuild';
import { mappedByModule } from './own-source-maps.ts';

/** `"name"` constants at the top of a schema module. */
const CONSTANT = /^const (\w+) = ("[^"\\\n]*");$/gm;
const COMPUTED_KEY = /\[(\w+)\]:/g;

/** The next provider of the setting is asked. */
const NOT_HERE = `() => async () => {
  throw Object.assign(new Error('A function has no user'), { tryNextLink: true });
}`;
/**
 * What the SDK asks of a machine: its user's settings in `~/.aws` and sign-in by single sign-on, and EC2 which Region
 * it is in. A function has its environment. By the module and what it exports.
 */
const OF_A_MACHINE = new Map([
  ['fromSharedConfigFiles', NOT_HERE],
  ['fromSso', NOT_HERE],
  ['getInstanceMetadataRegion', 'async () => undefined'],
]);
const MACHINE_MODULES = new RegExp(
  `@(smithy[\\\\/]core|aws-sdk[\\\\/]token-providers)[\\\\/].*[\\\\/](${[...OF_A_MACHINE.keys()].join('|')})\\.js$`,
);

/**
 * Lets esbuild leave out what a function does not use of the AWS SDK.
 *
 * - A client's module of schemas describes every operation. esbuild keeps an object with a computed key, since making
 *   the key might have an effect: the keys, which are constants, are written out.
 * - A client reads its version from its manifest, which comes whole: the version alone is left.
 * - What the SDK asks of a machine has no answer: settings are those of the environment.
 */
export const sdkDiet: Plugin = {
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
    builder.onLoad({ filter: MACHINE_MODULES }, ({ path }) => {
      const name = basename(path, '.js');
      const contents = `export const ${name} = ${OF_A_MACHINE.get(name)};`;
      return { contents: mappedByModule(path, contents), loader: 'js' };
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
