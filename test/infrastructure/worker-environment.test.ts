import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { describe, expect, it } from 'vitest';
import { defineProvider } from '../../lambdas/core/provider.ts';
import { WorkflowWorker } from '../../lib/constructs/workflow-worker.ts';
import { functionCode } from '../helpers/function-code.ts';
import { MESSAGES_ENTRY, quickApp, workerProps } from '../helpers/worker-template.ts';

/** A worker with everything switched on that a function is told by a variable. */
function fullWorker(): Template {
  const stack = new Stack(quickApp(), 'Test');
  const table = Table.fromTableName(stack, 'Orders', 'orders');
  new WorkflowWorker(
    stack,
    'Worker',
    workerProps({
      providers: [defineProvider({ name: 'Mail', operations: {} })],
      providersEntry: MESSAGES_ENTRY,
      providerSettings: { Mail: { secret: new Secret(stack, 'Secret') } },
      aggregates: { order: { table, key: 'id', versionAttribute: 'version' } },
      maxInFlight: 100,
    }),
  );
  return Template.fromStack(stack);
}

/** The variables that a function's own code reads, by whichever way. */
function readBy(folder: string): readonly string[] {
  const code = functionCode(folder);
  const read = [
    ...code.matchAll(/\b(?:requireEnv|requireNumber|listEnv)\(\w+, "(\w+)"\)/g),
    ...code.matchAll(/\benv\.([A-Z][A-Z_]+)\b/g),
    ...code.matchAll(/\{ ([A-Z][A-Z_]+) \} = process\.env\b/g),
  ];
  // Those of AWS are set by Lambda, or by a test's surroundings.
  return [...new Set(read.map(([, name = '']) => name))].filter(
    (name) => !ALL.includes(name) && !name.startsWith('AWS_'),
  );
}

/** Every function has these; Powertools, Node.js and each line of the log read them. */
const ALL = [
  'NODE_OPTIONS',
  'POWERTOOLS_METRICS_NAMESPACE',
  'POWERTOOLS_SERVICE_NAME',
  'RELEASE',
  'WORKER_NAME',
];

describe('the environment', () => {
  const functions = Object.entries(fullWorker().findResources('AWS::Lambda::Function'));

  it.each([
    ['starter', 'Starter'],
    ['plan', 'Plan'],
    ['commit', 'Commit'],
    ['report-failure', 'ReportFailure'],
    ['run-effect', 'RunEffectMail'],
    ['waker', 'Waker'],
    ['reconciler', 'Reconciler'],
  ])('of %s has what its code reads, and nothing else', (folder, part) => {
    const [found] = functions.filter(([id]) => id.startsWith(`Worker${part}Function`));
    const given = Object.keys(found?.[1].Properties.Environment.Variables).sort();

    expect(given).toEqual([...readBy(folder), ...ALL].sort());
  });

  it('has the variables that every function shares, source maps switched on among them', () => {
    for (const [id, { Properties }] of functions) {
      expect(Properties.Environment.Variables, id).toMatchObject({
        NODE_OPTIONS: '--enable-source-maps',
        POWERTOOLS_METRICS_NAMESPACE: 'Stepwell',
        POWERTOOLS_SERVICE_NAME: 'Worker',
        RELEASE: expect.stringMatching(/^[0-9a-f]{12}$/),
        WORKER_NAME: 'Worker',
      });
    }
  });
});
