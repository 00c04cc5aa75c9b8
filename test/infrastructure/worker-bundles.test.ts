import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { App } from 'aws-cdk-lib';
import { beforeAll, describe, expect, it } from 'vitest';
import { messages } from '../../lambdas/messages/index.ts';
import { providers } from '../../lambdas/providers/index.ts';
import { WorkerStack } from '../../lib/worker-stack.ts';

const entry = (folder: string) => fileURLToPath(new URL(`../../lambdas/${folder}/index.ts`, import.meta.url));

interface Bundle {
  readonly folder: string;
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

/** The worker's bundles by the description's function, with what the template sets; what AWS fills in is a stand-in. */
function synthesise(): Readonly<Record<string, Bundle>> {
  const app = new App();
  const environment = { PAYMENTS_URL: 'https://payments.example', NOTICES_URL: 'https://notices.example' };
  new WorkerStack(app, 'Test', {
    worker: {
      messages,
      messagesEntry: entry('messages'),
      sourcesEntry: entry('sources'),
      providers,
      providersEntry: entry('providers'),
      providerSettings: Object.fromEntries(providers.map(({ name }) => [name, { environment }])),
    },
  });
  const assembly = app.synth();
  const { templateFullPath } = assembly.getStackByName('Test');
  const template: { readonly Resources: Readonly<Record<string, FunctionResource>> } = JSON.parse(
    readFileSync(templateFullPath, 'utf8'),
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

/** KB that a bundle may have, with some room: a client or a schema library that slips in shows here. */
const LARGEST_KB = 500;
/** RunEffect carries the clients of all providers. */
const LARGEST_EFFECT_KB = 700;

describe('bundles', () => {
  let bundles: Readonly<Record<string, Bundle>> = {};

  beforeAll(() => {
    bundles = synthesise();
  });

  it('exist for every function', () => {
    expect(Object.keys(bundles).sort()).toEqual(
      ['Commit', 'Plan', 'Reconciler', 'ReportFailure', 'Starter', 'Waker']
        .concat(providers.map(({ name }) => `RunEffect${name}`))
        .sort(),
    );
  });

  it('load in a process of their own with what the template gives them and Lambda sets, and nothing else', () => {
    for (const [name, { folder, environment }] of Object.entries(bundles)) {
      const printed = execFileSync(
        process.execPath,
        [
          '--input-type=module',
          '-e',
          `const { handler } = await import(${JSON.stringify(join(folder, 'index.mjs'))}); console.log(typeof handler); process.exit(0)`,
        ],
        {
          cwd: folder,
          env: {
            ...environment,
            AWS_REGION: 'eu-west-1',
            AWS_ACCESS_KEY_ID: 'none',
            AWS_SECRET_ACCESS_KEY: 'none',
            LAMBDA_TASK_ROOT: folder,
          },
          encoding: 'utf8',
        },
      );
      expect(printed.trim(), name).toBe('function');
    }
  });

  it('are small, minified and carry only what is used', () => {
    for (const [name, { folder }] of Object.entries(bundles)) {
      const largest = name.startsWith('RunEffect') ? LARGEST_EFFECT_KB : LARGEST_KB;
      expect(statSync(join(folder, 'index.mjs')).size / 1024, name).toBeLessThan(largest);
    }
  });
});
