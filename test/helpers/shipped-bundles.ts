import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { messages } from '../../lambdas/messages/index.ts';
import { providers } from '../../lambdas/providers/index.ts';
import { WorkerStack } from '../../lib/worker-stack.ts';
import { entryOf } from './worker-template.ts';

/** A function's bundle as it is deployed. */
export interface Bundle {
  /** Absolute path of the folder with `index.mjs` and what lies beside it. */
  readonly folder: string;
  /** What the template sets; a stand-in for each value that CloudFormation fills in. */
  readonly environment: Readonly<Record<string, string>>;
}

interface FunctionResource {
  readonly Type: string;
  readonly Properties: {
    readonly Handler: string;
    readonly Code: { readonly S3Key?: string };
    readonly Environment: { readonly Variables: Readonly<Record<string, unknown>> };
  };
}

/**
 * Synthesises a worker with the shipped types and providers, and gives the bundles by their functions' names.
 * @param outdir where they are written. @default a folder of its own among the temporary ones
 */
export function shippedBundles(outdir?: string): Readonly<Record<string, Bundle>> {
  const app = new App({ analyticsReporting: false, ...(outdir === undefined ? {} : { outdir }) });
  const environment = { PAYMENTS_URL: 'https://payments.example', NOTICES_URL: 'https://notices.example' };
  new WorkerStack(app, 'Shipped', {
    worker: {
      messages,
      messagesEntry: entryOf('messages'),
      sourcesEntry: entryOf('sources'),
      providers,
      providersEntry: entryOf('providers'),
      providerSettings: Object.fromEntries(
        providers.map(({ name }) => [
          name,
          { environment, entry: entryOf('providers').replace('index', name.toLowerCase()) },
        ]),
      ),
    },
  });
  const assembly = app.synth();
  const template: { readonly Resources: Readonly<Record<string, FunctionResource>> } = JSON.parse(
    readFileSync(assembly.getStackByName('Shipped').templateFullPath, 'utf8'),
  );
  const functions = Object.entries(template.Resources).filter(
    ([id, { Type, Properties }]) =>
      Type === 'AWS::Lambda::Function' && id.startsWith('Worker') && Properties.Handler === 'index.handler',
  );
  return Object.fromEntries(
    functions.map(([id, { Properties }]) => [
      id.replace(/^Worker/, '').replace(/Function[0-9A-F]{8}$/, ''),
      {
        folder: join(assembly.directory, `asset.${Properties.Code.S3Key?.replace(/\.zip$/, '')}`),
        environment: Object.fromEntries(
          Object.entries(Properties.Environment.Variables).map(([name, value]) => [
            name,
            typeof value === 'string' ? value : 'set-by-cloudformation',
          ]),
        ),
      },
    ]),
  );
}

/** What Lambda sets beside the template's variables. */
export const lambdaEnvironment = (folder: string) => ({
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'none',
  AWS_SECRET_ACCESS_KEY: 'none',
  LAMBDA_TASK_ROOT: folder,
});

export const kilobytes = (files: readonly string[]): number =>
  files.reduce((sum, file) => sum + statSync(file).size, 0) / 1024;
