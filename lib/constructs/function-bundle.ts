import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AssetHashType, DockerImage, type ILocalBundling } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { buildSync } from 'esbuild';

/** Folder that holds one folder a function. */
const LAMBDAS = fileURLToPath(new URL('../../lambdas/', import.meta.url));

/** The team's modules, by the bare specifier under which the functions import them. */
export type ModuleName = 'stepwell-messages' | 'stepwell-providers' | 'stepwell-sources';

/** What goes into a function's bundle. */
export interface FunctionBundleProps {
  /** Name of the function's folder under `lambdas/`. */
  readonly folder: string;
  /** Absolute paths of the team's modules. */
  readonly modules?: Partial<Record<ModuleName, string>>;
  /** Files beside the bundle, by name. */
  readonly files?: Readonly<Record<string, string>>;
}

/** TypeScript in this repository, JavaScript in the package. */
const SCRIPT_SUFFIX = existsSync(join(LAMBDAS, 'index.ts')) ? 'ts' : 'js';

/** The starter's sources where the worker names none. */
export const NO_SOURCES = fileURLToPath(
  new URL(`../../lambdas/no-sources.${SCRIPT_SUFFIX}`, import.meta.url),
);

/** Packages of ES modules that still call `require` find it under this name. */
const REQUIRE = "import{createRequire}from'node:module';const require=createRequire(import.meta.url);";

/**
 * Bundles a function with esbuild in this process: no Docker, no shell, no package manager, and no rule where the
 * team's modules lie. The asset is named after its content, so that an unchanged function is not deployed again.
 */
export function bundleFunction({ folder, modules = {}, files = {} }: FunctionBundleProps): Code {
  return Code.fromAsset(join(LAMBDAS, folder), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      image: DockerImage.fromRegistry('none'),
      local: new LocalBundling({ folder, modules, files }),
    },
  });
}

/** CDK tells bundlings of one folder apart by their public fields. */
class LocalBundling implements ILocalBundling {
  readonly props: Required<FunctionBundleProps>;

  constructor(props: Required<FunctionBundleProps>) {
    this.props = props;
  }

  tryBundle(outputDir: string): boolean {
    const { folder, modules, files } = this.props;
    buildSync({
      entryPoints: [join(LAMBDAS, folder, `index.${SCRIPT_SUFFIX}`)],
      outfile: join(outputDir, 'index.mjs'),
      bundle: true,
      platform: 'node',
      target: 'node24',
      format: 'esm',
      mainFields: ['module', 'main'],
      banner: { js: REQUIRE },
      // The team's modules use this very copy of the package, wherever they lie, and the app's own dependencies.
      alias: {
        stepwell: join(LAMBDAS, `index.${SCRIPT_SUFFIX}`),
        'stepwell/providers': join(LAMBDAS, `shipped-providers.${SCRIPT_SUFFIX}`),
        // A fifth of a bundle, of which a function needs nothing.
        '@aws-sdk/credential-provider-node': join(LAMBDAS, `aws/function-credentials.${SCRIPT_SUFFIX}`),
        ...modules,
      },
      nodePaths: [join(process.cwd(), 'node_modules')],
      minify: true,
      legalComments: 'none',
      sourcemap: true,
      sourcesContent: false,
      logLevel: 'silent',
    });
    for (const [name, content] of Object.entries(files)) writeFileSync(join(outputDir, name), content);
    return true;
  }
}
