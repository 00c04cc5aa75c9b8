import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack, Validations } from 'aws-cdk-lib';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { Key } from 'aws-cdk-lib/aws-kms';
import { AwsSolutionsChecks } from 'cdk-nag';
import { afterAll, describe, expect, it } from 'vitest';
import { createManifest, createRegistry } from '../../lambdas/core/manifest.ts';
import { defineProvider } from '../../lambdas/core/provider.ts';
import { messages } from '../../lambdas/messages/index.ts';
import { WorkflowWorker } from '../../lib/constructs/workflow-worker.ts';
import type { WorkflowWorkerProps } from '../../lib/constructs/workflow-worker-props.ts';
import { removeFolder } from '../helpers/folders.ts';
import { MESSAGES_ENTRY, workerProps } from '../helpers/worker-template.ts';

const folders: string[] = [];
const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'stepwell-synth-'));
  folders.push(path);
  return path;
};
afterAll(() => folders.forEach(removeFolder));

/** Synthesises with CloudFormation's own rules on, as errors. */
function synth(outdir: string, propsOf: (stack: Stack) => Partial<WorkflowWorkerProps>, bundling = false) {
  const app = new App({
    outdir,
    analyticsReporting: false,
    context: {
      '@aws-cdk/core:validateAgainstDefaultRules': true,
      ...(bundling ? {} : { 'aws:cdk:bundling-stacks': [] }),
    },
  });
  const stack = new Stack(app, 'Test');
  const worker = new WorkflowWorker(stack, 'Worker', workerProps(propsOf(stack)));
  return { app, stack, worker };
}

const nothing = () => ({});
const everything = (stack: Stack): Partial<WorkflowWorkerProps> => ({
  messages: messages.map((message) => ({ ...message, data: 'reference' as const })),
  encryptionKey: new Key(stack, 'Key', { enableKeyRotation: true }),
  vpc: Vpc.fromVpcAttributes(stack, 'Vpc', {
    vpcId: 'vpc-12345678',
    availabilityZones: ['eu-west-1a'],
    privateSubnetIds: ['subnet-12345678'],
  }),
  providers: [defineProvider({ name: 'Payments', operations: {} })],
  providersEntry: MESSAGES_ENTRY,
  logExecutionData: true,
  maxInFlight: 10,
  invalidMessages: 'quarantine',
});

describe('synthesis', () => {
  it.each([
    ['the defaults', nothing],
    ['everything', everything],
  ])('passes CloudFormation’s rules and AwsSolutions with %s', (_name, propsOf) => {
    const { app } = synth(folder(), propsOf);
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));

    expect(() => app.synth()).not.toThrow();
  });

  it('deploys a definition that is valid ASL, each of its placeholders given a value', () => {
    const { app, stack } = synth(folder(), everything);
    const { template } = app.synth().getStackByName(stack.stackName);
    const machine = Object.values(template.Resources).find(
      (resource) => Object(resource).Type === 'AWS::StepFunctions::StateMachine',
    );
    const { DefinitionString, DefinitionSubstitutions } = Object(machine).Properties;

    const validate = createRequire(import.meta.url)('asl-validator');
    expect(validate(JSON.parse(DefinitionString)).errors).toEqual([]);
    const used = [...DefinitionString.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name);
    expect(Object.keys(DefinitionSubstitutions).sort()).toEqual([...new Set(used)].sort());
  });

  it('bundles ES modules with source maps and the starter’s manifest, the same at every synthesis', () => {
    const assets = [folder(), folder()].map((outdir) => {
      const { app, stack } = synth(outdir, nothing, true);
      app.synth();
      const names = readdirSync(outdir)
        .filter((name) => name.startsWith('asset.'))
        .sort();
      return {
        outdir,
        names,
        template: readFileSync(join(outdir, `${stack.stackName}.template.json`), 'utf8'),
      };
    });

    const [first, second] = assets;
    expect(first?.names).toEqual(second?.names);
    expect(first?.template).toBe(second?.template);
    for (const name of first?.names ?? []) {
      expect(readdirSync(join(first?.outdir ?? '', name))).toEqual(
        expect.arrayContaining(['index.mjs', 'index.mjs.map']),
      );
    }
    const manifests = (first?.names ?? []).flatMap((name) =>
      readdirSync(join(first?.outdir ?? '', name))
        .filter((file) => file === 'manifest.json')
        .map((file) => JSON.parse(readFileSync(join(first?.outdir ?? '', name, file), 'utf8'))),
    );
    expect(manifests).toEqual([createManifest(createRegistry(messages))]);
  });
});
