import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AssetHashType, DockerImage, type ILocalBundling } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import type { BundleRequest } from '../bundling/bundle.ts';

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

/** The sources are TypeScript in this repository, and JavaScript in the package. */
const SCRIPT_SUFFIX = existsSync(join(LAMBDAS, 'index.ts')) ? 'ts' : 'js';

/** The starter's sources where the worker names none. */
export const NO_SOURCES = fileURLToPath(
  new URL(`../../lambdas/no-sources.${SCRIPT_SUFFIX}`, import.meta.url),
);

const BUNDLING = fileURLToPath(new URL(`../bundling/run.${SCRIPT_SUFFIX}`, import.meta.url));

/**
 * Bundles a function with esbuild: no Docker, no shell, no package manager. The team's modules may lie anywhere. The
 * asset is named after its content, so that an unchanged function is not deployed again.
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
    const request: BundleRequest = {
      entry: join(LAMBDAS, folder, `index.${SCRIPT_SUFFIX}`),
      outdir: outputDir,
      // The team's modules use this very copy of the package, wherever they lie, and the app's own dependencies.
      alias: {
        stepwell: join(LAMBDAS, `index.${SCRIPT_SUFFIX}`),
        'stepwell/providers': join(LAMBDAS, `shipped-providers.${SCRIPT_SUFFIX}`),
        // Parts of the SDK that no function needs. The first alone is a fifth of a bundle.
        '@aws-sdk/credential-provider-node': join(LAMBDAS, `aws/function-credentials.${SCRIPT_SUFFIX}`),
        '@aws-sdk/endpoint-cache': join(LAMBDAS, `aws/no-endpoint-cache.${SCRIPT_SUFFIX}`),
        ...modules,
      },
      nodePaths: [join(process.cwd(), 'node_modules')],
    };
    const { status, stderr, error } = spawnSync(process.execPath, [BUNDLING], {
      input: JSON.stringify(request),
      encoding: 'utf8',
    });
    if (status !== 0) {
      throw new Error(`The function ${folder} cannot be bundled: ${error?.message ?? stderr.trim()}`);
    }
    for (const [name, content] of Object.entries(files)) writeFileSync(join(outputDir, name), content);
    return true;
  }
}
